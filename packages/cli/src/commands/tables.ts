/** `strongroom tables …`: creates, verifies and exports the tables of all services. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import { cloudFormation } from '@strongroom/kit/cloudformation'
import { operationsTable } from '@strongroom/kit/operations-table'
import type { Table } from '@strongroom/kit/table'
import { createTables, findMissingTables, verifyTables } from '@strongroom/kit/tables'
import { systemClock } from '@strongroom/platform/clock'
import { everyTable } from '@strongroom/server/data-model'
import { localActor } from '@strongroom/server/local-actor'
import { serverPolicy } from '@strongroom/server/server-policy'
import { settings } from '@strongroom/server/settings'
import { tablesOf } from '@strongroom/server/tables'
import { chooseServices } from '../choose-services.ts'
import type { Command } from '../command.ts'
import { withStore } from '../store.ts'

const tablesCreate: Command = {
  name: 'tables create',
  kind: 'store',
  creates: true,
  summary: 'Create missing tables on the configured store',
  run: (input) =>
    withStore(input, async (store, { STRONGROOM_TABLE_PREFIX: prefix }) => {
      const { db, kind, label, location, recoveryDays } = store
      const outcomes = new Map<Table, string>()
      const create = (tables: readonly Table[]) =>
        createTables(db, tables, {
          recoveryDays,
          withStreams: kind !== 'embedded',
          onTable(table, outcome) {
            outcomes.set(table, outcome)
            const { name } = table
            input.output.progress(
              `${prefix}${name}: ${outcome === 'created' ? 'created' : 'exists'}`,
            )
          },
        })
      const missing = await findMissingTables(db, everyTable)
      // The first one, because it has the audit log, which records the others.
      await create([operationsTable])
      const others = everyTable.filter((table) => table !== operationsTable)
      if (missing.length === 0) await create(others)
      else {
        const log = createAuditLog({ db, clock: systemClock })
        const after = { tables: missing.map((name) => prefix + name) }
        const change = { ...localActor(), action: 'server.tables.created', after }
        await log.around(change, () => create(others))
      }
      const done = everyTable.map((table) => {
        const outcome = outcomes.get(table) ?? 'exists'
        return { table: prefix + table.name, outcome }
      })
      const created = done.filter(({ outcome }) => outcome === 'created').length
      if (created > 0 && kind !== 'embedded')
        input.output.notice(`Created tables in ${label}, ${location}`)
      input.output.result(`${created} of ${done.length} tables created\n`, done)
    }),
}

/** Without point-in-time recovery, which a setting disables. */
const tablesWithoutRecovery = everyTable.map((table) => ({ ...table, pointInTimeRecovery: false }))

const tablesVerify: Command = {
  name: 'tables verify',
  kind: 'store',
  summary: 'Compare the tables of the configured store with their declarations',
  about: 'Exits with 1 if a table is missing or differs.',
  run: (input) =>
    withStore(input, async ({ db, recoveryDays }, { STRONGROOM_TABLE_PREFIX: prefix }) => {
      const checks = await verifyTables(db, recoveryDays === 0 ? tablesWithoutRecovery : everyTable)
      const lines = checks.flatMap(({ table, differences }) =>
        differences.length === 0
          ? [`${prefix}${table}: as declared`]
          : differences.map((difference) => `${prefix}${table}: ${difference}`),
      )
      input.output.result(
        `${lines.join('\n')}\n`,
        checks.map(({ table, ...rest }) => ({ table: prefix + table, ...rest })),
      )
      return checks.some(({ differences }) => differences.length > 0) ? 1 : 0
    }),
}

const only = { value: 'SERVICE', summary: 'Only the tables of a server with this service' }

const tablesCloudFormation: Command = {
  name: 'tables cloudformation',
  kind: 'store',
  summary: 'Print a CloudFormation template with the tables',
  options: { only },
  about: `Deploy it with "aws cloudformation deploy". The parameters of the template are Prefix (by default
STRONGROOM_TABLE_PREFIX) and Environment. Deleting the stack keeps the tables. With --only, the outputs
TableName and TableArn are those of the table of that service.`,
  async run({ env, options, output }) {
    const { STRONGROOM_TABLE_PREFIX: prefix } = settings.parse(env)
    const tables = chooseTables(options['only'])
    const template = cloudFormation({ ...tables, prefix })
    output.result(`${JSON.stringify(template, null, 2)}\n`, template)
  },
}

const tablesPolicy: Command = {
  name: 'tables policy',
  kind: 'store',
  summary: 'Print the IAM policy that a server on DynamoDB and AWS KMS needs',
  options: {
    only,
    create: { summary: 'Also allow "strongroom tables create"' },
  },
  about: `For servers and workers that run outside Lambda. Names the tables by STRONGROOM_TABLE_PREFIX and
AWS_REGION, and the key by KMS_KEY_ARN; what is not set is any region, account or key.`,
  async run({ env, options, output }) {
    const configured = settings.parse(env)
    const { tables } = chooseTables(options['only'])
    const policy = serverPolicy({
      tables,
      prefix: configured.STRONGROOM_TABLE_PREFIX,
      region: configured.AWS_REGION,
      keyArn: configured.KMS_KEY_ARN,
      mayCreate: options['create'] === true,
    })
    output.result(`${JSON.stringify(policy, null, 2)}\n`, policy)
  },
}

/** The tables of all services, or of one with its main table. */
function chooseTables(chosen: string | boolean | undefined) {
  if (chosen === undefined) return { tables: everyTable }
  const services = chooseServices(chosen)
  const [main, ...others] = services.flatMap(({ tables }) => tables)
  return { tables: tablesOf(services), main: others.length === 0 ? main : undefined }
}

export const commands: readonly Command[] = [
  tablesCreate,
  tablesVerify,
  tablesCloudFormation,
  tablesPolicy,
]
