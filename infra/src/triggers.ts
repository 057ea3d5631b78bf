/** What starts functions besides requests of the HTTP APIs: schedules, streams, function URLs. */
import { CfnOutput, type Stack } from 'aws-cdk-lib'
import { CfnRule } from 'aws-cdk-lib/aws-events'
import { CfnEventSourceMapping, CfnPermission, CfnUrl } from 'aws-cdk-lib/aws-lambda'
import type { Trigger } from '@strongroom/lambda/functions'
import type { DeployedFunction } from './functions.ts'
import type { StackOptions } from './options.ts'
import type { DeployedTables } from './tables.ts'

export function createTriggers(
  stack: Stack,
  functions: readonly DeployedFunction[],
  { tables, options }: { tables: DeployedTables; options: StackOptions },
): void {
  for (const each of functions) {
    for (const trigger of each.declared.triggers) {
      if (trigger.kind === 'schedule') createSchedule(stack, each, trigger)
      if (trigger.kind === 'stream') createStreamMapping(stack, each, trigger, tables)
      if (trigger.kind === 'function-url') createUrl(stack, each, options)
    }
  }
}

function createSchedule(
  stack: Stack,
  { id, declared, resource }: DeployedFunction,
  { rateMinutes }: Extract<Trigger, { kind: 'schedule' }>,
): void {
  const unit = rateMinutes === 1 ? 'minute' : 'minutes'
  const rule = new CfnRule(stack, `${id}Schedule`, {
    description: `Starts ${declared.name}`,
    scheduleExpression: `rate(${rateMinutes} ${unit})`,
    targets: [
      {
        id: 'function',
        arn: resource.attrArn,
        // The next run does what this one would have done.
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      },
    ],
  })
  new CfnPermission(stack, `${id}SchedulePermission`, {
    action: 'lambda:InvokeFunction',
    functionName: resource.ref,
    principal: 'events.amazonaws.com',
    sourceArn: rule.attrArn,
  })
}

function createStreamMapping(
  stack: Stack,
  { id, resource }: DeployedFunction,
  { table, partitionPrefix, batchSize }: Extract<Trigger, { kind: 'stream' }>,
  tables: DeployedTables,
): void {
  const pattern = {
    eventName: ['INSERT', 'MODIFY'],
    dynamodb: { Keys: { [table.partitionKey.name]: { S: [{ prefix: partitionPrefix }] } } },
  }
  new CfnEventSourceMapping(stack, `${id}Stream`, {
    eventSourceArn: tables.streamOf(table),
    functionName: resource.attrArn,
    startingPosition: 'LATEST',
    batchSize,
    filterCriteria: { filters: [{ pattern: JSON.stringify(pattern) }] },
    // The records only say that work is due, and the schedule finds all that is.
    functionResponseTypes: ['ReportBatchItemFailures'],
    maximumRetryAttempts: 1,
    maximumRecordAgeInSeconds: 60,
  })
}

/** Public, because the function verifies its callers itself, as on the domain. */
function createUrl(
  stack: Stack,
  { id, resource }: DeployedFunction,
  { domain }: StackOptions,
): void {
  const url = new CfnUrl(stack, `${id}Url`, {
    targetFunctionArn: resource.attrArn,
    authType: 'NONE',
    invokeMode: 'RESPONSE_STREAM',
    cors: {
      allowOrigins: [`https://${domain}`],
      allowMethods: ['GET'],
      allowHeaders: ['authorization', 'last-event-id'],
      maxAge: 3600,
    },
  })
  new CfnPermission(stack, `${id}UrlPermission`, {
    action: 'lambda:InvokeFunctionUrl',
    functionName: resource.ref,
    principal: '*',
    functionUrlAuthType: 'NONE',
  })
  // Lambda checks both since October 2025.
  new CfnPermission(stack, `${id}UrlInvokePermission`, {
    action: 'lambda:InvokeFunction',
    functionName: resource.ref,
    principal: '*',
    invokedViaFunctionUrl: true,
  })
  new CfnOutput(stack, `${id}FunctionUrl`, {
    description: 'Streams new events: the live tail of Ferryhook',
    value: url.attrFunctionUrl,
  })
}
