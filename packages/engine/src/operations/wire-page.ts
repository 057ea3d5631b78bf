/**
 * A page of whole items of a table for the wire faces. Stored bytes are converted to the bytes of the
 * response without decoding, which would be most of the cost of a query. Pages follow the rules of
 * `page.ts`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PageInput, PageOutput } from '../db.ts'
import { decodeItem } from '../storage/codec.ts'
import { JsonWriter } from '../storage/codec-json.ts'
import { itemText } from '../values/wire-text.ts'
import { capacityMeter, readUnits } from './capacity.ts'
import { pick } from './index-view.ts'
import type { Context } from './operation.ts'
import { ITEMS_PER_TURN, MAX_PAGE_BYTES, pageKeyNames, type PagePlan } from './page.ts'

/** The finished response. */
export class WirePage implements PageOutput {
  readonly Count: number
  readonly json: Buffer

  constructor(count: number, json: Buffer) {
    this.Count = count
    this.json = json
  }
}

/** Whether the request is for whole items of the table, without filter or projection. */
export function wantsWholeItems(input: PageInput, plan: PagePlan): boolean {
  const { index, filter, projection, shown, ranges } = plan
  return !(index || filter || projection || shown || input.Select === 'COUNT' || ranges.length > 1)
}

/**
 * The memory of sent pages is reused: allocating and freeing it for every page is a fifth of the cost
 * of a query. Pages that are never released are left to the garbage collector.
 */
const spare: JsonWriter[] = []
const MAX_SPARE_WRITERS = 32
/** Larger buffers are not kept while a client reads a page; the page is copied instead. */
const MAX_BORROWED_BYTES = 256 * 1024
const MAX_LARGE_BYTES = 4 * MAX_PAGE_BYTES
let large: JsonWriter | undefined
const borrowed = new WeakMap<Buffer, JsonWriter>()

/** Call after a response was sent or copied, because its bytes may then be overwritten. */
export function release(json: Buffer): void {
  const writer = borrowed.get(json)
  borrowed.delete(json)
  if (writer) keep(writer)
}

function take(): JsonWriter {
  const writer = spare.pop() ?? large ?? new JsonWriter()
  if (writer === large) large = undefined
  writer.position = 0
  return writer
}

function keep(writer: JsonWriter): void {
  const { length } = writer.bytes
  if (length <= MAX_BORROWED_BYTES) {
    if (spare.length < MAX_SPARE_WRITERS) spare.push(writer)
  } else if (length <= MAX_LARGE_BYTES) large = writer
}

/** The written bytes, to be released after use. */
function borrow(writer: JsonWriter): Buffer {
  const json = writer.bytes.subarray(0, writer.position)
  if (writer.bytes.length <= MAX_BORROWED_BYTES) {
    borrowed.set(json, writer)
    return json
  }
  const copied = Buffer.from(json)
  keep(writer)
  return copied
}

export async function readWirePage(
  { storage }: Context,
  input: PageInput,
  { table, ranges }: PagePlan,
): Promise<WirePage> {
  const writer = take()
  writer.text('{"Items":[')
  const keyNames = pageKeyNames(table, undefined)
  const limit = Math.floor(input.Limit ?? Infinity)
  const consistent = ranges[0]?.consistent === true
  let range = ranges[0] ?? {}
  let scanned = 0
  let bytes = 0
  let last = ''

  /** Returns true when the page is complete, and false when this turn of the event loop has read enough. */
  const readTurn = (): boolean => {
    const turnEnd = scanned + ITEMS_PER_TURN
    for (const stored of storage.storedRange(table, range)) {
      if (scanned > 0) writer.comma()
      bytes += writer.item(stored)
      scanned += 1
      const more = scanned >= limit || bytes >= MAX_PAGE_BYTES
      if (!more && scanned < turnEnd) continue
      const startKey = pick(keyNames, decodeItem(stored))
      if (more) last = `,"LastEvaluatedKey":${itemText(startKey)}`
      else range = { ...range, startKey }
      return more
    }
    return true
  }
  // oxlint-disable-next-line no-await-in-loop -- one turn after the other is the point
  while (!readTurn()) await nextTurn()

  const meter = capacityMeter(input.ReturnConsumedCapacity)
  meter.read(table, undefined, readUnits(bytes, consistent))
  const [consumed] = meter.consumed()
  const capacity = consumed ? `,"ConsumedCapacity":${JSON.stringify(consumed)}` : ''
  writer.text(`],"Count":${scanned},"ScannedCount":${scanned}${last}${capacity}}`)
  return new WirePage(scanned, borrow(writer))
}
