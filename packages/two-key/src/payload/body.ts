/** Bytes to values, after key one and never before. */
import { isObject, type JsonObject } from './json.ts'
import { PayloadRefused } from './refusal.ts'
import { hasRepeatedNames } from './repeated-names.ts'

/** How Slack has sent it: events as JSON, commands as a form, interactions as JSON in a form. */
export type Wrapping = 'json' | 'form' | 'payload'

export interface ReadBody {
  wrapping: Wrapping
  body: JsonObject
}

// A byte order mark stays where it is: who gets the bytes after us may not take it off.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function readBody(rawBody: Uint8Array, contentType: string | undefined): ReadBody {
  // Parameters such as a charset change nothing: Slack sends UTF-8.
  const [type = ''] = (contentType ?? '').split(';', 1)
  switch (type.trim().toLowerCase()) {
    case 'application/json':
      return { wrapping: 'json', body: parse(textOf(rawBody)) }
    case 'application/x-www-form-urlencoded':
      return readForm(textOf(rawBody))
    default:
      throw new PayloadRefused('unknown_content_type')
  }
}

function readForm(text: string): ReadBody {
  const fields = new Map<string, string>()
  // Of a question mark at the beginning it would take off one, which is ours.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    // Twice the same name: who reads the first would see another than who reads the last.
    if (fields.has(name)) throw new PayloadRefused('ambiguous_payload')
    fields.set(name, value)
  }
  const payload = fields.get('payload')
  // Of a check of certificates nothing else is read: it must not carry a payload past the keys.
  if (payload === undefined || fields.has('ssl_check')) {
    return { wrapping: 'form', body: Object.fromEntries(fields) }
  }
  if (fields.size > 1) throw new PayloadRefused('ambiguous_payload')
  return { wrapping: 'payload', body: parse(payload) }
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new PayloadRefused('malformed_body')
  }
}

function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new PayloadRefused('malformed_body')
  }
  if (!isObject(value)) throw new PayloadRefused('malformed_body')
  if (hasRepeatedNames(text, value)) throw new PayloadRefused('ambiguous_payload')
  return value
}
