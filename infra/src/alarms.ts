/** Alarms, all to one topic that sends mail. A missing figure is no alarm, unless something must run. */
import { CfnOutput, type Stack } from 'aws-cdk-lib'
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnAlarm, type CfnAlarmProps } from 'aws-cdk-lib/aws-cloudwatch'
import { CfnMetricFilter } from 'aws-cdk-lib/aws-logs'
import { CfnSubscription, CfnTopic } from 'aws-cdk-lib/aws-sns'
import { WORK_REPORT } from '@strongroom/lambda/work-report'
import type { Apis } from './api.ts'
import type { DeployedFunction } from './functions.ts'
import type { StackOptions } from './options.ts'
import type { DeployedTables } from './tables.ts'

const FIVE_MINUTES_S = 300
/** Of its timeout; a function that is slower is about to be ended in its work. */
const SLOW_SHARE = 0.8
const MAX_LATENCY_MS = 3_000
const MAX_ITERATOR_AGE_MS = 120_000
/** An alarm has at most ten metrics. */
const MAX_METRICS_PER_ALARM = 10

export type Alarms = ReturnType<typeof createAlarms>

/** Creates the topic; the functions that it returns add alarms to it. */
export function createAlarms(stack: Stack, { prefix, email }: StackOptions) {
  const topic = new CfnTopic(stack, 'Alarms', { displayName: `${prefix}strongroom alarms` })
  new CfnSubscription(stack, 'AlarmMail', {
    topicArn: topic.ref,
    protocol: 'email',
    endpoint: email,
  })
  new CfnOutput(stack, 'AlarmTopic', {
    description: 'Alarms are published to this topic',
    value: topic.ref,
  })
  const namespace = `${prefix}strongroom`

  function alarm(id: string, alarmDescription: string, props: Partial<CfnAlarmProps>): void {
    new CfnAlarm(stack, `${id}Alarm`, {
      alarmDescription,
      comparisonOperator: 'GreaterThanOrEqualToThreshold',
      evaluationPeriods: 1,
      threshold: 1,
      treatMissingData: 'notBreaching',
      ...(!props.metrics && { period: FIVE_MINUTES_S }),
      ...props,
      alarmActions: [topic.ref],
      okActions: [topic.ref],
    })
  }

  return {
    alarm,

    ofFunction({ id, declared, resource }: DeployedFunction): void {
      const { name, triggers, timeoutSeconds } = declared
      const metric = (metricName: string) => ({
        namespace: 'AWS/Lambda',
        metricName,
        dimensions: [{ name: 'FunctionName', value: resource.ref }],
      })
      alarm(`${id}Errors`, `${name} failed. Its log group has the error.`, {
        ...metric('Errors'),
        statistic: 'Sum',
      })
      alarm(`${id}Throttles`, `${name} was throttled. Raise the concurrency of the account.`, {
        ...metric('Throttles'),
        statistic: 'Sum',
      })
      // A live tail runs as long as somebody watches.
      if (triggers.some(({ kind }) => kind === 'function-url')) return
      alarm(`${id}Slow`, `${name} takes nearly as long as its timeout.`, {
        ...metric('Duration'),
        extendedStatistic: 'p99',
        threshold: timeoutSeconds * 1000 * SLOW_SHARE,
        evaluationPeriods: 3,
        datapointsToAlarm: 2,
      })
      if (triggers.some(({ kind }) => kind === 'schedule')) {
        alarm(`${id}Missing`, `${name} has not run for ten minutes. Check its schedule.`, {
          ...metric('Invocations'),
          statistic: 'Sum',
          comparisonOperator: 'LessThanThreshold',
          evaluationPeriods: 2,
          treatMissingData: 'breaching',
        })
      }
      if (triggers.some(({ kind }) => kind === 'stream')) {
        alarm(`${id}Late`, `${name} reads new work late: deliveries wait for the schedule.`, {
          ...metric('IteratorAge'),
          statistic: 'Maximum',
          threshold: MAX_ITERATOR_AGE_MS,
        })
      }
    },

    ofApis({ main, sealed }: Apis): void {
      const each = (id: string, api: CfnApi) => {
        const metric = (metricName: string) => ({
          namespace: 'AWS/ApiGateway',
          metricName,
          dimensions: [{ name: 'ApiId', value: api.ref }],
        })
        alarm(`${id}Errors`, 'Requests got a response of 500 or more.', {
          ...metric('5xx'),
          statistic: 'Sum',
          threshold: 5,
        })
        alarm(`${id}Slow`, 'Requests are slow: one in a hundred takes three seconds.', {
          ...metric('Latency'),
          extendedStatistic: 'p99',
          threshold: MAX_LATENCY_MS,
          evaluationPeriods: 3,
        })
      }
      each('Api', main)
      if (sealed) each('SealedApi', sealed)
    },

    ofTables(tables: DeployedTables): void {
      for (let from = 0; from < tables.all.length; from += MAX_METRICS_PER_ALARM) {
        const part = tables.all.slice(from, from + MAX_METRICS_PER_ALARM)
        for (const kind of ['Read', 'Write'] as const) {
          const number = from / MAX_METRICS_PER_ALARM
          alarm(
            `Tables${kind}Throttles${number === 0 ? '' : number + 1}`,
            `DynamoDB throttled ${kind.toLowerCase()}s. Its console shows which table.`,
            { metrics: sumOf(part.map(tables.nameOf), `${kind}ThrottleEvents`) },
          )
        }
      }
    },

    /** What functions log becomes a metric: denied calls of all, and the work that the worker reports. */
    ofLogs(functions: readonly DeployedFunction[]): void {
      for (const { id, logGroup } of functions) {
        new CfnMetricFilter(stack, `${id}Denied`, {
          logGroupName: logGroup.ref,
          filterPattern: DENIED,
          metricTransformations: [
            { metricNamespace: namespace, metricName: 'DeniedCalls', metricValue: '1' },
          ],
        })
      }
      alarm('Denied', 'DynamoDB or KMS denied a call, or the KMS key cannot be used.', {
        namespace,
        metricName: 'DeniedCalls',
        statistic: 'Sum',
      })
    },

    ofWork(logGroupName: string): void {
      const report = (metricName: string, field: string) =>
        new CfnMetricFilter(stack, metricName, {
          logGroupName,
          filterPattern: `{ $.message = "${WORK_REPORT}" && $.${field} = * }`,
          metricTransformations: [
            { metricNamespace: namespace, metricName, metricValue: `$.${field}` },
          ],
        })
      report('OverdueTasks', 'overdue')
      report('FailedDeliveries', 'failed')
      alarm('Overdue', 'Deliveries are overdue by more than a minute.', {
        namespace,
        metricName: 'OverdueTasks',
        statistic: 'Minimum',
      })
      alarm('FailedDeliveries', 'Deliveries failed for good. Their events can be replayed.', {
        namespace,
        metricName: 'FailedDeliveries',
        statistic: 'Sum',
      })
    },
  }
}

const DENIED =
  '?AccessDeniedException ?DisabledException ?KMSInvalidStateException ?KeyUnavailableException'

function sumOf(tableNames: readonly string[], metricName: string) {
  const metrics = tableNames.map((value, at) => ({
    id: `m${at}`,
    returnData: false,
    metricStat: {
      metric: {
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensions: [{ name: 'TableName', value }],
      },
      period: FIVE_MINUTES_S,
      stat: 'Sum',
    },
  }))
  const expression = metrics.map(({ id }) => `FILL(${id},0)`).join('+')
  return [...metrics, { id: 'sum', expression, label: metricName, returnData: true }]
}
