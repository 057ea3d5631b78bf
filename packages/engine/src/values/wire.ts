import type { Item, Value } from './types.ts'

/** An AttributeValue as it stands in JSON. */
export type WireValue = { [type: string]: unknown }

export function fromWire(_json: unknown): Value {
  throw new Error('not yet')
}
export function itemFromWire(_json: unknown): Item {
  throw new Error('not yet')
}
export function toWire(_value: Value): WireValue {
  throw new Error('not yet')
}
export function itemToWire(_item: Item): Record<string, WireValue> {
  throw new Error('not yet')
}
