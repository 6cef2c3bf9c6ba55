"""The entry points on AWS: Lambda functions and the SQS queue."""
