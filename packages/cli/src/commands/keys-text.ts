/** Branch keys in words, for people. */
import type {
  BranchKeyDescription,
  BranchKeySummary,
  StoredKey,
} from '@strongroom/key-store/branch-keys'
import { ageText, columns, counted, printable } from '../for-people.ts'

export function listText(
  keys: readonly BranchKeySummary[],
  unreadable: readonly { id: string; problem: string }[],
): string {
  const rows = keys.map(({ id, activeVersion, ageSeconds }) => [
    printable(id),
    ageText(ageSeconds),
    printable(activeVersion),
  ])
  const table = rows.length === 0 ? 'There are no branch keys\n' : columns([HEAD, ...rows])
  const problems = unreadable.map(({ id, problem }) => `${printable(id)}: ${printable(problem)}\n`)
  return table + problems.join('')
}

const HEAD = ['ID', 'AGE', 'ACTIVE VERSION']

export function descriptionText(key: BranchKeyDescription): string {
  const { id, active, versions, beacon, unreadable, foreignItems } = key
  const facts: [name: string, value: string][] = [
    ['Active', active ? printable(active.activeVersion) : MISSING],
    ['Beacon key', beacon ? madeText(beacon) : MISSING],
  ]
  if (active) {
    facts.push(
      ['Context', contextText(active.encryptionContext)],
      ['KMS key', printable(active.kmsArn)],
    )
  }
  if (foreignItems > 0)
    facts.push(['Besides', `${counted(foreignItems, 'item')} of others under this id`])
  facts.push(['Versions', String(versions.length)])
  const listed = versions.map((version) => [
    `    ${printable(version.version)}`,
    version.active ? 'active' : '',
    madeText(version),
  ])
  return [
    `${printable(id)}\n`,
    ...facts.map(([name, value]) => `  ${name.padEnd(12)}${value}\n`),
    columns(listed),
    ...unreadable.map(({ type, problem }) => `  ${printable(type)}: ${printable(problem)}\n`),
  ].join('')
}

const MISSING = 'missing, or cannot be read'

export function madeText({ createTime, ageSeconds }: StoredKey): string {
  const age = ageSeconds === null ? 'age unknown' : `${ageText(ageSeconds)} old`
  return `${age}, made ${printable(createTime)}`
}

function contextText(context: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(context).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? 'none' : printable(pairs.join(', '))
}
