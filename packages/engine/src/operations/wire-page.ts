/**
 * A page of whole items of a table for the wire faces: their stored bytes become the bytes of the
 * answer without being decoded, which is most of what a query costs. The rules of a page are those
 * of `page.ts`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PageInput, PageOutput } from '../db.ts'
import { decodeItem } from '../storage/codec.ts'
import { JsonWriter } from '../storage/codec-json.ts'
import { itemText } from '../values/wire-text.ts'
import { capacityMeter, readUnits } from './capacity.ts'
import { picked } from './index-view.ts'
import type { Context } from './operation.ts'
import { ITEMS_PER_TURN, MOST_PAGE_BYTES, pageKeyNames, type PagePlan } from './page.ts'

/** The answer to a request, in place of its parts. */
export class WirePage implements PageOutput {
  readonly Count: number
  readonly json: Buffer

  constructor(count: number, json: Buffer) {
    this.Count = count
    this.json = json
  }
}

/** Whether nothing is asked of the items but to be there. */
export function isWhole(input: PageInput, plan: PagePlan): boolean {
  const { index, filter, projection, shown, ranges } = plan
  return !(index || filter || projection || shown || input.Select === 'COUNT' || ranges.length > 1)
}

/**
 * The memory of pages that were sent is written again: to take some for every page, and to give it
 * back, is a fifth of what a query costs. Pages that nobody gives back are left to the collector.
 */
const spare: JsonWriter[] = []
const MOST_SPARE = 32
/** Larger memory is not lent for as long as a client takes to read a page: the page is copied. */
const MOST_LENT_BYTES = 256 * 1024
const MOST_LARGE_BYTES = 4 * MOST_PAGE_BYTES
let large: JsonWriter | undefined
const lent = new WeakMap<Buffer, JsonWriter>()

/** For whoever has sent or copied an answer: nobody reads these bytes any more. */
export function giveBack(json: Buffer): void {
  const writer = lent.get(json)
  lent.delete(json)
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
  if (length <= MOST_LENT_BYTES) {
    if (spare.length < MOST_SPARE) spare.push(writer)
  } else if (length <= MOST_LARGE_BYTES) large = writer
}

/** What was written, to be given back. */
function lend(writer: JsonWriter): Buffer {
  const json = writer.bytes.subarray(0, writer.position)
  if (writer.bytes.length <= MOST_LENT_BYTES) {
    lent.set(json, writer)
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

  /** Reads until the page ends (true) or this turn's share is used up (false). */
  const readTurn = (): boolean => {
    const turnEnd = scanned + ITEMS_PER_TURN
    for (const stored of storage.storedRange(table, range)) {
      if (scanned > 0) writer.comma()
      bytes += writer.item(stored)
      scanned += 1
      const more = scanned >= limit || bytes >= MOST_PAGE_BYTES
      if (!more && scanned < turnEnd) continue
      const startKey = picked(keyNames, decodeItem(stored))
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
  return new WirePage(scanned, lend(writer))
}
