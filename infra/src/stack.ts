/** Strongroom on AWS: tables, keys, functions, HTTP API, schedules and alarms, in one stack. */
import { type App, CfnOutput, Stack } from 'aws-cdk-lib'
import { lambdaFunctions } from '@strongroom/lambda/functions'
import { everyTable } from '@strongroom/server/data-model'
import { createAlarms } from './alarms.ts'
import { createApis } from './api.ts'
import { createFunctions } from './functions.ts'
import { createKeys } from './keys.ts'
import type { StackOptions } from './options.ts'
import { createTables } from './tables.ts'
import { createTriggers } from './triggers.ts'
import { createWorkerService, REPLACED_FUNCTIONS } from './worker-service.ts'

export class StrongroomStack extends Stack {
  constructor(app: App, name: string, options: StackOptions, bundles: string) {
    super(app, name, {
      description: 'Strongroom: secrets, webhooks, WordPress sites and keys',
      // Without an account and region the template needs no lookups and fits every account.
      tags: { Project: 'strongroom', Environment: options.environment },
      terminationProtection: true,
    })
    const { prefix, environment, worker, workerImage } = options
    const keys = createKeys(this, prefix)
    const tables = createTables(this, everyTable, { prefix, environment, key: keys.tables })
    const declared = lambdaFunctions.filter(
      (each) => worker === 'lambda' || !REPLACED_FUNCTIONS.has(each.name),
    )
    const functions = createFunctions(this, declared, options, { tables, keys, bundles })
    const apis = createApis(this, functions, options)
    createTriggers(this, functions, { tables, options })

    const alarms = createAlarms(this, options)
    for (const each of functions) alarms.ofFunction(each)
    alarms.ofApis(apis)
    alarms.ofTables(tables)
    alarms.ofLogs(functions)
    const work = functions.find((each) => each.declared.name === 'ferryhook-worker')
    if (work) alarms.ofWork(work.logGroup.ref)
    if (workerImage !== undefined && worker === 'fargate')
      createWorkerService(this, { image: workerImage, tables, keys, options, alarms })

    new CfnOutput(this, 'Url', { description: 'Strongroom', value: `https://${options.domain}` })
    new CfnOutput(this, 'KeyArn', {
      description: 'KMS_KEY_ARN, for commands that work on the tables of this stack',
      value: keys.own.attrArn,
    })
  }
}
