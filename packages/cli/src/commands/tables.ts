/** `strongroom tables …`: creates, verifies and exports the tables of all services. */
import { cloudFormation } from '@strongroom/kit/cloudformation'
import { createTables, verifyTables } from '@strongroom/kit/tables'
import { dataModels, everyTable } from '@strongroom/server/data-model'
import { settings } from '@strongroom/server/settings'
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
      const done: { table: string; outcome: string }[] = []
      await createTables(db, everyTable, {
        recoveryDays,
        onTable({ name }, outcome) {
          done.push({ table: prefix + name, outcome })
          input.output.progress(`${prefix}${name}: ${outcome === 'created' ? 'created' : 'exists'}`)
        },
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

const tablesCloudFormation: Command = {
  name: 'tables cloudformation',
  kind: 'store',
  summary: 'Print a CloudFormation template with tables and policies',
  async run({ env, output }) {
    const { STRONGROOM_TABLE_PREFIX: prefix } = settings.parse(env)
    const functions = Object.fromEntries(
      dataModels.map((model) => [model.service, model.functions]),
    )
    const template = cloudFormation({ tables: everyTable, functions, prefix })
    output.result(`${JSON.stringify(template, null, 2)}\n`, template)
  },
}

export const commands: readonly Command[] = [tablesCreate, tablesVerify, tablesCloudFormation]
