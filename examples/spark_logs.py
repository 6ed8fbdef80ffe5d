# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Count the records of log files for each topic with Spark (kwire.spark).

    spark-submit examples/spark_logs.py kafka-logs/

Requires ``pip install kwire[arrow] pyspark``.
"""

import sys

from pyspark.sql import SparkSession

import kwire.spark

spark = SparkSession.builder.getOrCreate()
kwire.spark.register(spark)
records = spark.read.format("kafka-log").load(sys.argv[1])
for row in records.groupBy("topic").count().orderBy("topic").collect():
    print(row["topic"], row["count"])
