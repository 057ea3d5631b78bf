/**
 * The token with which a SELECT continues: the last key of the page, and a fingerprint of the statement,
 * because a token is only valid for its own statement.
 */
import { createHash } from 'node:crypto'
import type { Item, Value } from '../values/types.ts'
import { itemFromWire, itemToWire, toWire } from '../values/wire.ts'
import { invalidToken } from './select.ts'

const FORMAT = 1

export function nextToken(statement: string, parameters: readonly Value[], key: Item): string {
  const token = { v: FORMAT, of: fingerprint(statement, parameters), key: itemToWire(key) }
  return Buffer.from(JSON.stringify(token)).toString('base64')
}

export function readNextToken(
  statement: string,
  parameters: readonly Value[],
  token: string,
): Item {
  try {
    const read = JSON.parse(Buffer.from(token, 'base64').toString()) as Record<string, unknown>
    if (read['v'] === FORMAT && read['of'] === fingerprint(statement, parameters)) {
      return itemFromWire(read['key'])
    }
  } catch {
    // All defects of a token have the same error.
  }
  throw invalidToken()
}

function fingerprint(statement: string, parameters: readonly Value[]): string {
  const text = JSON.stringify([statement, parameters.map(toWire)])
  return createHash('sha256').update(text).digest('base64').slice(0, 22)
}
