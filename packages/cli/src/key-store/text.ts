/** Text output for branch keys. */
import type {
  BranchKeyDescription,
  BranchKeySummary,
  StoredKey,
} from '@strongroom/key-store/branch-keys/service'
import { formatAge, columns, pluralize, escapeControls } from '../output.ts'

export function listText(
  keys: readonly BranchKeySummary[],
  unreadable: readonly { id: string; problem: string }[],
): string {
  const rows = keys.map(({ id, activeVersion, ageSeconds }) => [
    escapeControls(id),
    formatAge(ageSeconds),
    escapeControls(activeVersion),
  ])
  const table = rows.length === 0 ? 'There are no branch keys\n' : columns([HEAD, ...rows])
  const problems = unreadable.map(
    ({ id, problem }) => `${escapeControls(id)}: ${escapeControls(problem)}\n`,
  )
  return table + problems.join('')
}

const HEAD = ['ID', 'AGE', 'ACTIVE VERSION']

export function descriptionText(key: BranchKeyDescription): string {
  const { id, active, versions, beacon, unreadable, foreignItems } = key
  const facts: [name: string, value: string][] = [
    ['Active', active ? escapeControls(active.activeVersion) : MISSING],
    ['Beacon key', beacon ? createdText(beacon) : MISSING],
  ]
  if (active) {
    facts.push(
      ['Context', contextText(active.encryptionContext)],
      ['KMS key', escapeControls(active.kmsArn)],
    )
  }
  if (foreignItems > 0)
    facts.push(['Other', `${pluralize(foreignItems, 'unrelated item')} under this id`])
  facts.push(['Versions', String(versions.length)])
  const listed = versions.map((version) => [
    `    ${escapeControls(version.version)}`,
    version.active ? 'active' : '',
    createdText(version),
  ])
  return [
    `${escapeControls(id)}\n`,
    ...facts.map(([name, value]) => `  ${name.padEnd(12)}${value}\n`),
    columns(listed),
    ...unreadable.map(
      ({ type, problem }) => `  ${escapeControls(type)}: ${escapeControls(problem)}\n`,
    ),
  ].join('')
}

const MISSING = 'missing, or cannot be read'

export function createdText({ createTime, ageSeconds }: StoredKey): string {
  const age = ageSeconds === null ? 'age unknown' : `${formatAge(ageSeconds)} old`
  return `${age}, created ${escapeControls(createTime)}`
}

function contextText(context: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(context).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? 'none' : escapeControls(pairs.join(', '))
}
