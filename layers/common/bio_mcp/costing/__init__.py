"""What a corpus costs on AWS: the first load, the index, a month. Rates are measured, prices have a date.

Every figure is a `Line` with its arithmetic, so that a reader can put other prices or rates in its place.
"""
