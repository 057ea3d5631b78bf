/**
 * The rows of a service's `seed-coverage.md`, and whether the product reaches what they name. A row
 * names files and functions: `sources/store.ts: create`, `limits/item.ts, limits/store.ts: count`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { Db, Item } from '../db.ts'
import type { Table } from '../table.ts'
import type { ReachedFunctions } from './reached-functions.ts'

interface SeedRow {
  what: string
  where: string
  test: string
}

interface SeedCoverage {
  rows: SeedRow[]
  /** What of the rows the product does not reach yet, by `what`. */
  pending: string[]
}

export function readSeedCoverage(packageDirectory: string): SeedCoverage {
  const lines = readFileSync(join(packageDirectory, 'seed-coverage.md'), 'utf8').split('\n')
  const rows = lines
    .filter((line) => line.startsWith('|') && !/^\|[\s|-]+$/.test(line))
    .slice(1)
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')))
    .map(([, what = '', where = '', test = '']) => ({ what, where, test }))
  const pending = lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2))
  return { rows, pending }
}

/** What the product did: the functions that ran, and the items that it stored. */
interface Observed {
  functions: ReachedFunctions
  items: ReadonlyMap<string, readonly Item[]>
}

/** Whether the product reached what the rows name, as lists that have to be empty. */
export async function compareSeedCoverage(
  packageDirectory: string,
  observed: Observed,
  { rows, pending }: SeedCoverage = readSeedCoverage(packageDirectory),
): Promise<{ unreached: string[]; noLongerPending: string[] }> {
  const [unreached, open]: [string[], Set<string>] = [[], new Set()]
  for (const { what, where } of rows) {
    for (const reference of parseReferences(packageDirectory, where)) {
      if (await isReached(reference, observed)) continue
      open.add(what)
      if (!pending.includes(what)) unreached.push(`${what}: ${nameOf(reference)}`)
    }
  }
  return { unreached, noLongerPending: pending.filter((what) => !open.has(what)) }
}

interface Reference {
  path: string
  /** Undefined for a whole file. */
  name: string | undefined
}

function nameOf({ path, name }: Reference): string {
  const file = path.slice(path.lastIndexOf('/src/') + '/src/'.length)
  return name === undefined ? file : `${file}: ${name}`
}

/** A name without a file belongs to the file before it. */
function parseReferences(packageDirectory: string, where: string): Reference[] {
  const references: Reference[] = []
  let path = ''
  for (const part of where.replaceAll('`', '').split(/,\s*/)) {
    const [, kit, file, named] = /^(kit[ /])?([\w./-]+\.ts)(?:: (\w+))?$/.exec(part) ?? []
    const name = file === undefined ? part : named
    if (file !== undefined) {
      const directory = kit === undefined ? packageDirectory : join(packageDirectory, '../kit')
      path = join(directory, 'src', file)
    }
    if (!existsSync(path)) throw new Error(`seed-coverage.md names "${part}", which does not exist`)
    if (name !== undefined && !new RegExp(`\\b${name}\\b`).test(readFileSync(path, 'utf8'))) {
      throw new Error(`seed-coverage.md names "${name}", which ${path} does not have`)
    }
    references.push({ path, name })
  }
  return references
}

/** Declarations without code, which `strongroom tables` prints and the server does not load. */
const PRINTED = /\/(?:iam|data-model)\.ts$/

async function isReached({ path, name }: Reference, observed: Observed): Promise<boolean> {
  if (PRINTED.test(path)) return true
  const ran = observed.functions.of(path)
  if (ran === undefined) return false
  if (name !== undefined && ran.has(name)) return true
  const exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  if (name !== undefined) {
    // A type has no value, and a function that is not exported is a method of a store.
    const isType = new RegExp(`export (?:interface|type) ${name}\\b`).test(
      readFileSync(path, 'utf8'),
    )
    if (isType) return ran.size > 1
    return name in exported && isStored(exported[name], observed.items)
  }
  const declared = Object.values(exported).filter((value) => isDeclaration(value))
  // Every module runs one function, its own code, when it is loaded.
  if (ran.size > 1 || declared.length === 0) return true
  return declared.some((value) => isStored(value, observed.items))
}

function isDeclaration(value: unknown): boolean {
  return value instanceof z.ZodObject || isKeyTemplate(value) || isTable(value)
}

/** Whether the product stored an item of a schema, of a key or of a table. Other constants are used. */
function isStored(value: unknown, items: Observed['items']): boolean {
  const all = [...items.values()].flat()
  if (value instanceof z.ZodObject) return all.some((item) => value.safeParse(item).success)
  if (isKeyTemplate(value)) {
    const fields = Object.entries(value.fields)
    return all.some((item) => fields.every(([name, field]) => field.safeParse(item[name]).success))
  }
  if (isTable(value)) return (items.get(value.name)?.length ?? 0) > 0
  return typeof value !== 'function'
}

function isKeyTemplate(value: unknown): value is { fields: Record<string, z.ZodType> } {
  return typeof value === 'object' && value !== null && 'templates' in value && 'fields' in value
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && 'name' in value && 'partitionKey' in value
}

/** Adds all items that are stored now, by the name of their table. */
export async function collectItems(
  db: Db,
  tables: readonly Table[],
  items: Map<string, Item[]>,
): Promise<void> {
  for (const { name: TableName } of tables) {
    const { Items = [] } = await db.scan({ TableName })
    items.set(TableName, [...(items.get(TableName) ?? []), ...Items])
  }
}
