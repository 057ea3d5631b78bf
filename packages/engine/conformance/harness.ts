/**
 * The few words the suites are written in: a table for the time of a suite, and refusals.
 *
 * A refusal is always checked by exception name and by the whole message, because programs match on
 * both. A message may be a pattern only where AWS prints something a request does not determine.
 */
import { setTimeout } from 'node:timers/promises'
import {
  type AttributeDefinition,
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  type KeySchemaElement,
  type Projection,
  type PutItemCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DifferenceId, differences } from './differences.ts'
import { differs, expected, type Target } from './target.ts'

export type Item = Record<string, AttributeValue>

/** Key attributes with their types, partition key first: `{ pk: 'S', sk: 'N' }`. */
export type Key = Record<string, 'S' | 'N' | 'B'>

interface IndexShape {
  key: Key
  /** Everything by default; a list names the attributes to include besides the keys. */
  project?: 'ALL' | 'KEYS_ONLY' | string[]
}

export interface TableShape {
  key: Key
  global?: Record<string, IndexShape>
  local?: Record<string, IndexShape>
}

const run = Math.random().toString(36).slice(2, 8)
let tables = 0

/** A unique table name, because several runs may share a target. */
export function freshName(): string {
  tables += 1
  return `conformance.${run}.${process.pid}-${tables}`
}

/** A table that exists while the tests of the surrounding describe run. */
export function useTable(target: Target, shape: TableShape, items: Item[] = []): string {
  const name = freshName()
  beforeAll(async () => {
    await target.client.send(new CreateTableCommand(tableInput(name, shape)))
    await becomesActive(target.client, name)
    await write(target, name, items)
  })
  afterAll(async () => {
    await target.client.send(new DeleteTableCommand({ TableName: name }))
  })
  return name
}

/** The CreateTable request for a shape, billed on demand. */
export function tableInput(name: string, shape: TableShape): CreateTableCommandInput {
  const types: Key = { ...shape.key }
  for (const { key } of Object.values({ ...shape.global, ...shape.local })) {
    Object.assign(types, key)
  }
  return {
    TableName: name,
    AttributeDefinitions: Object.entries(types).map(
      ([AttributeName, AttributeType]): AttributeDefinition => ({ AttributeName, AttributeType }),
    ),
    KeySchema: keySchema(shape.key),
    BillingMode: 'PAY_PER_REQUEST',
    ...(shape.global && { GlobalSecondaryIndexes: Object.entries(shape.global).map(index) }),
    ...(shape.local && { LocalSecondaryIndexes: Object.entries(shape.local).map(index) }),
  }
}

export function keySchema(key: Key): KeySchemaElement[] {
  return Object.keys(key).map((AttributeName, position) => ({
    AttributeName,
    KeyType: position === 0 ? 'HASH' : 'RANGE',
  }))
}

/** The part of UpdateTable that adds an index of everything; `changes` are to what it is created with. */
export function createsIndex(name: string, key: Key, changes: object = {}) {
  const Create = { ...index([name, { key }]), ...changes }
  return { GlobalSecondaryIndexUpdates: [{ Create }] }
}

function index([IndexName, { key, project = 'ALL' }]: [string, IndexShape]) {
  return { IndexName, KeySchema: keySchema(key), Projection: projection(project) }
}

function projection(project: 'ALL' | 'KEYS_ONLY' | string[]): Projection {
  return Array.isArray(project)
    ? { ProjectionType: 'INCLUDE', NonKeyAttributes: project }
    : { ProjectionType: project }
}

/** Puts items, twenty-five to a request. */
export async function write(target: Target, table: string, items: Item[]): Promise<void> {
  for (let from = 0; from < items.length; from += 25) {
    const requests = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }))
    await target.client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }))
  }
}

/** The item as it is stored now. */
export async function read(target: Target, table: string, key: Item): Promise<Item | undefined> {
  const { Item } = await target.client.send(
    new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }),
  )
  return Item
}

export async function becomesActive(client: DynamoDBClient, table: string): Promise<void> {
  await eventually(async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
    const indexes = Table?.GlobalSecondaryIndexes ?? []
    return Table?.TableStatus === 'ACTIVE' && indexes.every((gsi) => gsi.IndexStatus === 'ACTIVE')
  })
}

/** Asks until the answer is yes, for half a minute at most. */
export async function eventually(answer: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await answer())) {
    if (Date.now() > deadline) throw new Error('Waited half a minute for a state that never came')
    await setTimeout(20)
  }
}

export interface Failure extends Error {
  $metadata?: { httpStatusCode?: number }
  Item?: Item
}

/** The error a request is refused with; a request that succeeds fails the test. */
export async function failure(request: Promise<unknown>): Promise<Failure> {
  try {
    await request
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error('The request succeeded, but AWS refuses it')
}

export interface Refusal {
  name?: string
  message: string | RegExp
  isOfItem?: boolean
}

export async function expectRefusal(
  request: Promise<unknown>,
  { name = 'ValidationException', message }: Refusal,
): Promise<void> {
  const error = await failure(request)
  const answer = `${error.name}: ${error.message}`
  const wanted = `${name}: ${String(message)}`
  const matches = typeof message !== 'string' && message.test(error.message)
  expect(matches ? `${error.name}: ${String(message)}` : answer, answer).toBe(wanted)
}

/** Any command of the SDK; its input is wrong on purpose, so its type says nothing. */
type CommandClass = new (input: never) => object

type Answer = string | RegExp | Refusal

/**
 * A case of a refusal: what is wrong, the part of the request that is wrong, and AWS's answer.
 *
 * With a declared difference, such a target must say it in other words, or give the answer named
 * here, or, if no answer is named, not refuse it in AWS's way at all.
 */
type RefusalCase = [
  title: string,
  input: object,
  aws: Answer,
  unless?: DifferenceId | { id: DifferenceId; answer?: Answer } | undefined,
]

/** One test per case, each with the common part of the request. */
export function refuses(
  target: Target,
  command: CommandClass,
  common: object,
  cases: RefusalCase[],
): void {
  for (const [title, input, answer, unless] of cases) {
    const send = () =>
      target.client.send(new command({ ...common, ...input } as never) as PutItemCommand)
    const aws = ofWrite(target, command, asRefusal(answer))
    if (!unless || !differs(target, typeof unless === 'string' ? unless : unless.id)) {
      test(`refuses ${title}`, () => expectRefusal(send(), aws))
    } else if (typeof unless === 'string') {
      test(`refuses ${title}, in other words than AWS`, () => expectOtherWords(send(), aws))
    } else if (unless.answer !== undefined) {
      const there = asRefusal(unless.answer)
      test(`refuses ${title} for another reason`, () => expectRefusal(send(), there))
    } else {
      testUnless(target, unless.id, `refuses ${title}`, () => expectRefusal(send(), aws))
    }
  }
}

/** Fails also when the words are AWS's after all: then the declared difference is needless. */
async function expectOtherWords(request: Promise<unknown>, { name, message }: Refusal) {
  const error = await failure(request)
  expect(error.name, error.message).toBe(name ?? 'ValidationException')
  const isSame =
    typeof message === 'string' ? message === error.message : message.test(error.message)
  expect(isSame, error.message).toBe(false)
}

const WRITES = new Set(['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand'])

/** What AWS says about a write after it has looked at the table, or about a limit, has no prefix. */
const WITHOUT_PREFIX = [
  /^\d+ validation errors? detected: /,
  /Supplied AttributeValue /,
  /^One or more parameter values were invalid: (?:Missing the key|Type mismatch for|Cannot update attribute|Size of|Aggregated size)/,
  /^One or more parameter values are not valid\./,
  /^The provided (?:key element does not|expression refers)/,
  /^The document path provided/,
  /^Key attributes must be scalars/,
  /^An operand in the update expression has/,
  /^Type mismatch for attribute to update/,
  /^Item size /,
]

/** The answer to a write: since 2026 AWS prefixes what is wrong with the request itself. */
function ofWrite(target: Target, command: CommandClass, refusal: Refusal): Refusal {
  return WRITES.has(command.name) ? writeRefusal(target, refusal) : refusal
}

function writeRefusal(target: Target, refusal: Refusal): Refusal {
  const { name = 'ValidationException', message, isOfItem } = refusal
  if (name !== 'ValidationException' || isOfItem) return refusal
  const words = typeof message === 'string' ? message : message.source
  if (WITHOUT_PREFIX.some((family) => family.test(words))) return refusal
  const prefix = requestPrefix(target)
  if (typeof message === 'string') return { name, message: prefix + message }
  const pattern = words.startsWith('^') ? words.slice(1) : `.*${words}`
  return { name, message: new RegExp(`^${prefix}${pattern}`, message.flags) }
}

/** What errors about a request of PutItem, UpdateItem or DeleteItem start with. */
export function requestPrefix(target: Target): string {
  return expected(target, 'write-prefix', '1 validation error detected: ', '')
}

/** An answer that is about the item or the table rather than the request. */
export function ofItem(message: string | RegExp): Refusal {
  return { message, isOfItem: true }
}

function asRefusal(answer: Answer): Refusal {
  return typeof answer === 'string' || answer instanceof RegExp ? { message: answer } : answer
}

/** A test that a target with a declared difference must fail, or the difference is needless. */
export function testUnless(
  target: Target,
  id: DifferenceId,
  title: string,
  body: () => Promise<void>,
): void {
  if (!differs(target, id)) test(title, () => body())
  else test.fails(`${title}, but here: ${differences[id].instead}`, () => body())
}

/** `length` characters of one byte each. */
export function text(length: number): string {
  return 'x'.repeat(length)
}

/** How a request on a table that does not exist is refused. */
export function missingTable(target: Target): Refusal {
  const aws = 'Requested resource not found'
  const there = 'Cannot do operations on a non-existent table'
  const message = expected(target, 'missing-table-text', aws, there)
  return { name: 'ResourceNotFoundException', message }
}
