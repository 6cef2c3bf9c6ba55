"""What AWS calls: functions, the queue."""
