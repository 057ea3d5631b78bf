/** Every parameter of the operations that are served, from the schemas of AWS's SDK: which are not read. */
import { readdirSync } from 'node:fs'
import * as sdk from '@aws-sdk/client-dynamodb'
import type { Shape, StructureShape } from '../src/validation/shapes.ts'

const howAwsRuns = 'It configures how AWS runs a table, not its contents'
const globalTables = 'Global tables are not implemented'
const vectors = 'Vector search is not implemented'

/** Why a parameter is taken and has no effect, by its name. */
export const withoutEffect: Readonly<Record<string, string>> = {
  DisassociationProtectionEnabled: globalTables,
  GlobalTableSettingsReplicationMode: globalTables,
  GlobalTableSourceArn: globalTables,
  GlobalTableWitnessUpdates: globalTables,
  MultiRegionConsistency: globalTables,
  OnDemandThroughput: howAwsRuns,
  OnDemandThroughputOverride: howAwsRuns,
  ReplicaUpdates: globalTables,
  ResourcePolicy: 'Every client that reaches the engine may do everything',
  SSESpecification: howAwsRuns,
  SSESpecificationOverride: howAwsRuns,
  VectorIndexes: vectors,
  VectorIndexOverride: vectors,
  VectorIndexUpdates: vectors,
  WarmThroughput: howAwsRuns,
}

const LIST = 1
const MAP = 2
const STRUCTURE = 3

/** Kind, namespace, name, traits, then names and schemas of members, or the schema of the elements. */
type Schema = readonly unknown[]

interface Served {
  name: string
  input: StructureShape
}

const folder = new URL('../src/operations/', import.meta.url)
const modules = await Promise.all(
  readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<object>),
)
const served = modules
  .flatMap((module) => Object.values(module) as Partial<Served & { run: unknown }>[])
  .filter((each): each is Served => Boolean(each?.name && each.input && each.run))

/** The paths of all parameters that no shape has. */
export function unreadParameters(): string[] {
  const schemas = sdk as unknown as Record<string, Schema | undefined>
  return served
    .flatMap(({ name, input }) => unread(schemas[`${name}Input$`], input, name))
    .toSorted()
}

function unread(given: unknown, shape: Shape, path: string): string[] {
  const schema = typeof given === 'function' ? (given() as unknown) : given
  if (!Array.isArray(schema)) return []
  const [kind] = schema as Schema
  if (kind === LIST && shape.kind === 'list') return unread(schema[4], shape.of, `${path}[]`)
  if (kind === MAP && shape.kind === 'map') return unread(schema[5], shape.of, `${path}{}`)
  if (kind === STRUCTURE && shape.kind === 'structure') {
    const [names, members] = [schema[4] as string[], schema[5] as unknown[]]
    return names.flatMap((name, at) => {
      const member = shape.members.get(name)
      return member ? unread(members[at], member, `${path}.${name}`) : [`${path}.${name}`]
    })
  }
  // A schema with traits is in a list with them.
  return Array.isArray(kind) || typeof kind === 'function' ? unread(kind, shape, path) : []
}

export function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

/** Of `docs/dynamodb-differences.md`. */
export function parametersSection(): string[] {
  return [
    '## Parameters',
    '',
    'These parameters of the implemented operations (streams excepted) are accepted and have no effect. All others are supported:',
    '',
    '| Parameter | Reason |',
    '| --- | --- |',
    ...unreadParameters().map((path) => `| ${path} | ${withoutEffect[lastName(path)]} |`),
    '',
  ]
}
