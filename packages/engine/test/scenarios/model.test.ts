/**
 * Random operations on the engine and on a plain Map, which must agree at every step: items, index
 * queries, pages, conditions, transactions and expiry. SLOW=1 runs far more of them.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine.ts'
import { checkStorage } from '../../src/storage/check.ts'
import type { Item } from '../../src/values/types.ts'
import { freshEngine, movableClock, notes } from '../support/engine.ts'

const SLOW = Boolean(process.env['SLOW'])

/** The table of `notes`, as simply as it can be said. */
interface Model {
  items: Map<string, Item>
  seconds: number
}

interface Subject {
  engine: Engine
  clock: ReturnType<typeof movableClock>
}

type Key = { pk: string; sk: number }
type Step = fc.AsyncCommand<Model, Subject>

const identity = ({ pk, sk }: Item) => `${pk as string}/${sk as number}`

const partition = fc.constantFrom('a', 'b', 'ab')
const sortKey = fc.constantFrom(-2, -1.5, 0, 1, 2, 10, 100)
const key: fc.Arbitrary<Key> = fc.record({ pk: partition, sk: sortKey })
const owner = fc.constantFrom('ada', 'bob')
const count = fc.integer({ min: 0, max: 3 })
const note: fc.Arbitrary<Item> = fc
  .tuple(
    key,
    fc.record(
      {
        owner,
        since: fc.integer({ min: -5, max: 5 }),
        count,
        expires: fc.integer({ min: 1, max: 200 }),
        title: fc.string({ maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([itsKey, rest]) => ({ ...itsKey, ...rest }))

/** Expiry is in seconds from the start, to keep the numbers of a failure small. */
const START = Date.UTC(2026, 0, 1)
const stored = (item: Item): Item =>
  'expires' in item ? { ...item, expires: (item['expires'] as number) + START / 1000 } : item

function step(text: string, run: (model: Model, subject: Subject) => Promise<void>): Step {
  return { check: () => true, run, toString: () => text }
}

const say = (name: string, ...values: unknown[]) =>
  `${name}(${values.map((value) => JSON.stringify(value)).join(', ')})`

const TableName = 'notes'

/** Whether a call succeeded; a failure must have the given name. */
async function succeeds(call: Promise<unknown>, failure: string): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    expect((error as Error).name).toBe(failure)
    return false
  }
}

const put = (given: Item) => {
  const item = stored(given)
  return step(say('put', given), async ({ items }, { engine }) => {
    const output = await engine.putItem({ TableName, Item: item, ReturnValues: 'ALL_OLD' })
    expect(output.Attributes).toEqual(items.get(identity(item)))
    items.set(identity(item), item)
  })
}

const putIfNew = (given: Item) => {
  const item = stored(given)
  return step(say('putIfNew', given), async ({ items }, { engine }) => {
    const done = await succeeds(
      engine.putItem({
        TableName,
        Item: item,
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
      'ConditionalCheckFailedException',
    )
    expect(done).toBe(!items.has(identity(item)))
    if (done) items.set(identity(item), item)
  })
}

const update = (at: Key, newOwner: string, least: number) =>
  step(say('update', at, newOwner, least), async ({ items }, { engine }) => {
    const old = items.get(identity(at))
    const counted = (old?.['count'] as number | undefined) ?? 0
    const done = await succeeds(
      engine.updateItem({
        TableName,
        Key: { ...at },
        UpdateExpression: 'SET #c = if_not_exists(#c, :zero) + :one, #o = :owner REMOVE title',
        ConditionExpression: 'attribute_not_exists(#c) OR #c >= :least',
        ExpressionAttributeNames: { '#c': 'count', '#o': 'owner' },
        ExpressionAttributeValues: { ':zero': 0, ':one': 1, ':least': least, ':owner': newOwner },
      }),
      'ConditionalCheckFailedException',
    )
    expect(done).toBe(old?.['count'] === undefined || counted >= least)
    if (!done) return
    const { title: _title, ...rest } = old ?? { ...at }
    items.set(identity(at), { ...rest, count: counted + 1, owner: newOwner })
  })

const remove = (at: Key) =>
  step(say('delete', at), async ({ items }, { engine }) => {
    const output = await engine.deleteItem({ TableName, Key: { ...at }, ReturnValues: 'ALL_OLD' })
    expect(output.Attributes).toEqual(items.get(identity(at)))
    items.delete(identity(at))
  })

const get = (at: Key) =>
  step(say('get', at), async ({ items }, { engine }) => {
    const output = await engine.getItem({ TableName, Key: { ...at } })
    expect(output.Item).toEqual(items.get(identity(at)))
  })

/** All pages of a read, each of `Limit` items at most. */
async function pages(
  read: (start: Item | undefined) => ReturnType<Engine['scan']>,
): Promise<Item[]> {
  const found: Item[] = []
  let start: Item | undefined
  do {
    // oxlint-disable-next-line no-await-in-loop -- each page starts where the last one ended
    const page = await read(start)
    found.push(...(page.Items ?? []))
    start = page.LastEvaluatedKey
  } while (start)
  return found
}

const bySort = (name: string) => (left: Item, right: Item) =>
  (left[name] as number) - (right[name] as number)

const query = (pk: string, least: number, forward: boolean, Limit: number) =>
  step(say('query', pk, least, forward, Limit), async ({ items }, { engine }) => {
    const found = await pages((start) =>
      engine.query({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk >= :least',
        ExpressionAttributeValues: { ':pk': pk, ':least': least },
        ScanIndexForward: forward,
        Limit,
        ...(start && { ExclusiveStartKey: start }),
      }),
    )
    const expected = [...items.values()]
      .filter((item) => item['pk'] === pk && (item['sk'] as number) >= least)
      .toSorted(bySort('sk'))
    expect(found).toEqual(forward ? expected : expected.toReversed())
  })

const queryIndex = (of: string, Limit: number) =>
  step(say('queryIndex', of, Limit), async ({ items }, { engine }) => {
    const found = await pages((start) =>
      engine.query({
        TableName,
        IndexName: 'by-owner',
        KeyConditionExpression: '#o = :o',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':o': of },
        Limit,
        ...(start && { ExclusiveStartKey: start }),
      }),
    )
    const shown = ['pk', 'sk', 'owner', 'since', 'title']
    const expected = [...items.values()]
      .filter((item) => item['owner'] === of && 'since' in item)
      .map((item) =>
        Object.fromEntries(Object.entries(item).filter(([name]) => shown.includes(name))),
      )
    expect(found.map((item) => item['since'])).toEqual(
      found.toSorted(bySort('since')).map((item) => item['since']),
    )
    expect(byIdentity(found)).toEqual(byIdentity(expected))
  })

const byIdentity = (list: Item[]) =>
  list.toSorted((left, right) => (identity(left) < identity(right) ? -1 : 1))

const scan = (total: number, Limit: number) =>
  step(say('scan', total, Limit), async ({ items }, { engine }) => {
    const segments = await Promise.all(
      Array.from({ length: total }, (_, Segment) =>
        pages((start) =>
          engine.scan({
            TableName,
            Segment,
            TotalSegments: total,
            Limit,
            FilterExpression: 'attribute_exists(#c)',
            ExpressionAttributeNames: { '#c': 'count' },
            ...(start && { ExclusiveStartKey: start }),
          }),
        ),
      ),
    )
    const expected = [...items.values()].filter((item) => 'count' in item)
    expect(byIdentity(segments.flat())).toEqual(byIdentity(expected))
  })

/** Puts some items and removes another, if a third one is there. */
const transact = (given: Item[], removed: Key, required: Key) =>
  step(say('transact', given, removed, required), async ({ items }, { engine }) => {
    const written = new Map(given.map((each) => [identity(each), stored(each)]))
    const distinct = new Set([...written.keys(), identity(removed), identity(required)])
    if (distinct.size < written.size + 2) return
    const done = await succeeds(
      engine.transactWriteItems({
        TransactItems: [
          ...[...written.values()].map((item) => ({ Put: { TableName, Item: item } })),
          { Delete: { TableName, Key: { ...removed } } },
          {
            ConditionCheck: {
              TableName,
              Key: { ...required },
              ConditionExpression: 'attribute_exists(pk)',
            },
          },
        ],
      }),
      'TransactionCanceledException',
    )
    expect(done).toBe(items.has(identity(required)))
    if (!done) return
    for (const [name, item] of written) items.set(name, item)
    items.delete(identity(removed))
  })

const readTogether = (keys: Key[]) =>
  step(say('readTogether', keys), async ({ items }, { engine }) => {
    const distinct = [...new Map(keys.map((each) => [identity(each), each])).values()]
    const { Responses } = await engine.transactGetItems({
      TransactItems: distinct.map((each) => ({ Get: { TableName, Key: { ...each } } })),
    })
    expect(Responses?.map(({ Item: item }) => item)).toEqual(
      distinct.map((each) => items.get(identity(each))),
    )
    const batch = await engine.batchGetItem({
      RequestItems: { [TableName]: { Keys: distinct.map((each) => ({ ...each })) } },
    })
    const there = distinct
      .map((each) => items.get(identity(each)))
      .filter((item) => item !== undefined)
    expect(byIdentity(batch.Responses?.[TableName] ?? [])).toEqual(byIdentity(there))
  })

const pass = (seconds: number) =>
  step(say('pass', seconds), async (model, { engine, clock }) => {
    clock.advanceSeconds(seconds)
    model.seconds += seconds
    const now = START / 1000 + model.seconds
    let expired = 0
    for (const [name, item] of model.items) {
      if (!('expires' in item) || (item['expires'] as number) >= now) continue
      model.items.delete(name)
      expired += 1
    }
    expect(await engine.sweep()).toBe(expired)
  })

const steps = fc.commands(
  [
    note.map(put),
    note.map(putIfNew),
    fc.tuple(key, owner, count).map((given) => update(...given)),
    key.map(remove),
    key.map(get),
    fc
      .tuple(partition, sortKey, fc.boolean(), fc.integer({ min: 1, max: 4 }))
      .map((given) => query(...given)),
    fc.tuple(owner, fc.integer({ min: 1, max: 4 })).map((given) => queryIndex(...given)),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 }))
      .map((given) => scan(...given)),
    fc
      .tuple(fc.array(note, { minLength: 1, maxLength: 3 }), key, key)
      .map((given) => transact(...given)),
    fc.array(key, { minLength: 1, maxLength: 4 }).map(readTogether),
    fc.integer({ min: 1, max: 60 }).map(pass),
  ],
  { maxCommands: SLOW ? 100 : 40 },
)

test(
  'the engine agrees with a plain map, whatever is done to it',
  { timeout: SLOW ? 600_000 : 60_000 },
  async () => {
    const clock = movableClock(START)
    const engine = await freshEngine({ clock })
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        await emptyTable(engine)
        const seconds = clock.now() / 1000 - START / 1000
        const subject = { engine, clock }
        await fc.asyncModelRun(
          () => ({ model: { items: new Map(), seconds }, real: subject }),
          commands,
        )
      }),
      { numRuns: SLOW ? 400 : 25 },
    )
    expect(await checkStorage(engine.storage)).toMatchObject({ problems: [] })
  },
)

async function emptyTable(engine: Engine): Promise<void> {
  const { TableNames = [] } = await engine.listTables({})
  if (TableNames.includes(TableName)) await engine.deleteTable({ TableName })
  await engine.createTable(notes)
  await engine.updateTimeToLive({
    TableName,
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  })
}
