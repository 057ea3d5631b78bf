/** `strongroom recover`: tables of the embedded store as they were at an earlier moment. */
import { Failure } from '@strongroom/kit/errors'
import { systemClock } from '@strongroom/platform/clock'
import { dataOption } from '../backup/master-key.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { columns, pluralize } from '../output.ts'
import {
  type EmbeddedTables,
  findDeclaredTable,
  requireUnused,
  withEmbeddedTables,
} from '../recover/embedded-tables.ts'
import { originalName, parseMoment } from '../recover/moment.ts'
import { putInPlace } from '../recover/put-in-place.ts'
import {
  beginRecovery,
  isRecoveredTo,
  type RecoveredTable,
  untilRecovered,
} from '../recover/recover-table.ts'
import { stopSignal } from '../stop-signal.ts'

/** The exit code that shells use for SIGINT. */
const INTERRUPTED = 130

const recoverCommand: Command = {
  name: 'recover',
  kind: 'store',
  summary: 'Recover tables of the embedded store as they were at a moment',
  options: {
    table: { value: 'NAME', multiple: true, summary: 'Table to recover; may be repeated' },
    at: {
      value: 'TIME',
      summary: 'Moment, such as 2030-01-31T14:05:00Z, or 15m for 15 minutes ago',
    },
    'in-place': {
      summary: 'Replace the present tables, which are kept as safety copies; stop the server first',
    },
    overwrite: { summary: 'Replace a recovered table of the same moment' },
    ...dataOption,
  },
  about: `Each table is recovered into a table of its own, NAME-recovered-TIME, also while a server runs.
"strongroom recover use" puts it in place later; --in-place does it at once, all tables in one commit.
An interrupted recovery continues when the command runs again with the same moment.`,
  run: (input) => withEmbeddedTables(input, (tables) => recoverTables(input, tables)),
}

async function recoverTables(input: CommandInput, tables: EmbeddedTables): Promise<number> {
  const { options, lists, output } = input
  const isInPlace = options['in-place'] === true
  const names = [...new Set(lists['table'])]
  if (names.length === 0) throw usageError('--table is missing: name the table to recover')
  const declared = names.map(findDeclaredTable)
  const at = parseMoment(options['at'], systemClock.now())
  const stopping = new AbortController()
  void stopSignal().then(() => stopping.abort())

  if (isInPlace) await requireUnused(tables.directory)
  const moment = new Date(at).toISOString()
  if (isInPlace && declared.every((table) => isRecoveredTo(tables, table, at))) {
    output.result(`${names.join(', ')}: already recovered to ${moment}\n`, {
      at: moment,
      tables: [],
    })
    return 0
  }
  const begun = []
  const how = { mayReuse: isInPlace, overwrite: options['overwrite'] === true }
  for (const table of declared)
    begun.push({ table, recovered: await beginRecovery(tables, table, at, how) })
  const done: RecoveredTable[] = []
  for (const each of begun) {
    const items = await untilRecovered(tables, each.recovered, { stop: stopping.signal, output })
    if (items === undefined) {
      output.result('Stopped: run the same command again to continue\n', { stopped: true })
      return INTERRUPTED
    }
    done.push({ ...each, items })
    output.progress(`${each.recovered}: ${pluralize(items, 'item')}`)
  }
  const copies = isInPlace
    ? await putInPlace(
        tables,
        done.map(({ table, recovered }) => ({ table, by: recovered })),
      )
    : []
  const lines = done.map(({ table, recovered, items }, index) =>
    isInPlace
      ? `${table.name} is as of ${moment}, with ${pluralize(items, 'item')}; what it was before is in ${copies[index]}`
      : `${table.name} as of ${moment} is in ${recovered}, with ${pluralize(items, 'item')}`,
  )
  output.result(`${lines.join('\n')}\n`, {
    at: moment,
    inPlace: isInPlace,
    tables: done.map(({ table, recovered, items }, index) => ({
      table: table.name,
      recovered: isInPlace ? null : recovered,
      items,
      safetyCopy: copies[index] ?? null,
    })),
  })
  return 0
}

const recoverList: Command = {
  name: 'recover list',
  kind: 'store',
  summary: 'List recovered tables and safety copies',
  options: dataOption,
  run: (input) =>
    withEmbeddedTables(input, async ({ engine, prefix }) => {
      const found = engine.storage
        .tables()
        .filter(({ name }) => name.startsWith(prefix) && originalName(name) !== undefined)
        .map((record) => ({
          name: record.name.slice(prefix.length),
          items: engine.storage.count(record),
          complete: !record.restoring,
        }))
      const rows = found.map(({ name, items, complete }) => [
        name,
        pluralize(items, 'item'),
        complete ? '' : 'being recovered',
      ])
      input.output.result(rows.length === 0 ? 'None\n' : columns(rows), found)
    }),
}

const recoverUse: Command = {
  name: 'recover use',
  kind: 'store',
  args: 'NAME',
  summary: 'Put a recovered table or a safety copy in place of the present table',
  options: dataOption,
  about: 'The present table is kept as a safety copy. Stop the server first.',
  run: (input) =>
    withEmbeddedTables(input, async (tables) => {
      const by = requireDerived(tables, input.args[0] ?? '')
      const table = findDeclaredTable(originalName(by) ?? '')
      await requireUnused(tables.directory)
      const [safetyCopy = ''] = await putInPlace(tables, [{ table, by }])
      input.output.result(`${by} is now ${table.name}; what it was before is in ${safetyCopy}\n`, {
        table: table.name,
        safetyCopy,
      })
    }),
}

const recoverRemove: Command = {
  name: 'recover remove',
  kind: 'store',
  args: 'NAME',
  summary: 'Delete a recovered table or a safety copy',
  options: dataOption,
  run: (input) =>
    withEmbeddedTables(input, async (tables) => {
      const name = requireDerived(tables, input.args[0] ?? '')
      const { engine, prefix } = tables
      // Without recovery, no backup of the deleted table is kept.
      await engine.updateContinuousBackups({
        TableName: prefix + name,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
      })
      await engine.deleteTable({ TableName: prefix + name })
      await engine.settled()
      input.output.result(`${name} was deleted\n`, { removed: name })
    }),
}

/** Never a table that services use. */
function requireDerived({ engine, prefix }: EmbeddedTables, name: string): string {
  const record = originalName(name) === undefined ? undefined : engine.storage.table(prefix + name)
  if (record && !record.restoring) return name
  throw new Failure(
    'failed',
    record
      ? `${name} is still being recovered: run "strongroom recover" again and wait until it ends`
      : `There is no recovered table or safety copy "${name}": see "strongroom recover list"`,
  )
}

export const commands: readonly Command[] = [recoverCommand, recoverList, recoverUse, recoverRemove]
