#!/bin/sh
# CloudWatch Logs through Amazon Data Firehose to the CloudWatch path. Not run by our tests.
# The access key is the API key. Firehose adds a third to what it sends: a buffer of 1 MiB stays under the 2 MiB of a body.
aws firehose create-delivery-stream --delivery-stream-name logweir --delivery-stream-type DirectPut \
  --http-endpoint-destination-configuration "{
    \"EndpointConfiguration\": {\"Url\": \"https://logs.example.com/api/v1/cloudwatch\", \"Name\": \"logweir\", \"AccessKey\": \"$LOGWEIR_API_KEY\"},
    \"BufferingHints\": {\"SizeInMBs\": 1, \"IntervalInSeconds\": 60},
    \"RequestConfiguration\": {\"ContentEncoding\": \"GZIP\", \"CommonAttributes\": [{\"AttributeName\": \"service\", \"AttributeValue\": \"checkout\"}]},
    \"RetryOptions\": {\"DurationInSeconds\": 3600},
    \"RoleARN\": \"$ROLE_ARN\",
    \"S3BackupMode\": \"FailedDataOnly\",
    \"S3Configuration\": {\"RoleARN\": \"$ROLE_ARN\", \"BucketARN\": \"$BUCKET_ARN\"}
  }"
aws logs put-subscription-filter --log-group-name /checkout --filter-name logweir --filter-pattern "" \
  --destination-arn "$STREAM_ARN" --role-arn "$ROLE_ARN"
