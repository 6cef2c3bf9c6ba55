"""The port `Workers`: processes of this machine that embed."""
