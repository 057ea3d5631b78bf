/**
 * Writes items directly as JSON text. The result equals `JSON.stringify` of the objects that `wire.ts`
 * creates, without creating them, which would be most of the cost of a query.
 */
import { numberText } from './numbers.ts'
import type { Member } from './sets.ts'
import { NumberValue, typeOf, type Item, type SetValue, type Value } from './types.ts'

// oxlint-disable-next-line no-control-regex -- those are what must be escaped
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/

export function itemText(item: Item): string {
  let text = '{'
  for (const name of Object.keys(item)) {
    text += text === '{' ? nameText(name) : `,${nameText(name)}`
    text += valueText(item[name] as Value)
  }
  return `${text}}`
}

function valueText(value: Value): string {
  if (typeof value === 'string') return `{"S":${quote(value)}}`
  if (typeof value === 'number') return `{"N":"${numberText(value)}"}`
  if (typeof value === 'boolean') return value ? '{"BOOL":true}' : '{"BOOL":false}'
  if (value === null) return '{"NULL":true}'
  if (Array.isArray(value)) return `{"L":[${value.map(valueText).join(',')}]}`
  if (value instanceof Uint8Array) return `{"B":"${base64(value)}"}`
  if (value instanceof NumberValue) return `{"N":"${value.value}"}`
  if (value instanceof Set) return setText(value)
  return `{"M":${itemText(value)}}`
}

function setText(set: SetValue): string {
  const members = Array.from(set as Set<Member>, (member) => {
    if (typeof member === 'string') return quote(member)
    return `"${member instanceof Uint8Array ? base64(member) : numberText(member)}"`
  })
  return `{"${typeOf(set)}":[${members.join(',')}]}`
}

function quote(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** The JSON of attribute names is cached, because they recur in every item. */
const MAX_CACHED_NAMES = 2000
const names = new Map<string, string>()

function nameText(name: string): string {
  let text = names.get(name)
  if (text === undefined) {
    text = `${JSON.stringify(name)}:`
    if (name.length < 64 && names.size < MAX_CACHED_NAMES) names.set(name, text)
  }
  return text
}

/** A response of members that are already text, followed by the other members. */
export function responseText(texts: Record<string, string | undefined>, rest: object): string {
  const others = JSON.stringify(rest)
  let members = ''
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined) members += `${members === '' ? '' : ','}"${name}":${text}`
  }
  if (members === '') return others
  return others === '{}' ? `{${members}}` : `{${members},${others.slice(1)}`
}
