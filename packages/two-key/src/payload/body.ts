/** Parses the bytes of a body. Runs only after the signature is verified. */
import { MAX_JSON_DEPTH } from '@strongroom/platform/json-depth'
import { PayloadError } from './error.ts'
import { isObject, type JsonObject } from './ids.ts'
import { countUnambiguousMembers } from './names.ts'

/** Slack sends events as JSON, commands as a form, and interactions as JSON in a form. */
export type BodyEncoding = 'json' | 'form' | 'payload'

export interface ParsedBody {
  encoding: BodyEncoding
  body: JsonObject
}

// A byte order mark is not removed, because the app that receives the same bytes may not remove it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function parseBody(rawBody: Uint8Array, contentType: string | undefined): ParsedBody {
  switch (mediaType(contentType ?? '')) {
    case 'application/json':
      return { encoding: 'json', body: parseJson(decodeText(rawBody)) }
    case 'application/x-www-form-urlencoded':
      return parseForm(decodeText(rawBody))
    default:
      throw new PayloadError('unknown_content_type')
  }
}

/** Slack sends UTF-8. The app may decode the bytes by the charset that the header names. */
function mediaType(contentType: string): string | undefined {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  return parameters.every((parameter) => UTF8_PARAMETERS.has(parameter)) ? type : undefined
}

const UTF8_PARAMETERS: ReadonlySet<string> = new Set(['', 'charset=utf-8', 'charset="utf-8"'])

/** The names of a slash command, an interaction and an ssl_check. */
const FORM_NAMES: ReadonlySet<string> = new Set([
  'api_app_id',
  'channel_id',
  'channel_name',
  'command',
  'enterprise_id',
  'enterprise_name',
  'is_enterprise_install',
  'payload',
  'response_url',
  'ssl_check',
  'team_domain',
  'team_id',
  'text',
  'token',
  'trigger_id',
  'user_id',
  'user_name',
])

/**
 * Visible ASCII without the semicolon, which ends a field for some parsers. Slack encodes all other
 * bytes; some parsers remove a byte order mark, and others take it for a part of the first name.
 */
const FORM_TEXT = /^[!-:<-~]*$/

function parseForm(text: string): ParsedBody {
  if (!FORM_TEXT.test(text)) throw new PayloadError('malformed_body')
  const fields = new Map<string, string>()
  // URLSearchParams removes one leading question mark, so it gets one that is not the sender's.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    // Parsers ignore case or change a name: PHP takes "user.id", "user[id" and "+user_id" for others.
    if (!FORM_NAMES.has(name)) throw new PayloadError('unknown_payload')
    // Some readers of a duplicate name take the first value, others the last.
    if (fields.has(name)) throw new PayloadError('ambiguous_payload')
    fields.set(name, value)
  }
  const payload = fields.get('payload')
  // An ssl_check is accepted unchecked, so nothing else in it may be read.
  if (payload === undefined || fields.has('ssl_check')) {
    return { encoding: 'form', body: Object.fromEntries(fields) }
  }
  if (fields.size > 1) throw new PayloadError('ambiguous_payload')
  return { encoding: 'payload', body: parseJson(payload) }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new PayloadError('malformed_body')
  }
}

/** Far more than Slack sends; comparing names takes time for each of them. */
const MAX_MEMBERS = 50_000

function parseJson(text: string): JsonObject {
  const { members, depth } = scanJson(text)
  if (depth > MAX_JSON_DEPTH || members > MAX_MEMBERS) throw new PayloadError('malformed_body')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new PayloadError('malformed_body')
  }
  if (!isObject(value)) throw new PayloadError('malformed_body')
  // A duplicate name appears twice in the text and once in the value. Some readers of the text would
  // take its first value, others the last.
  if (members !== countUnambiguousMembers(value)) throw new PayloadError('ambiguous_payload')
  return value
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Counts members, by their colons, and the deepest nesting of a JSON text. */
function scanJson(text: string): { members: number; depth: number } {
  let members = 0
  let depth = 0
  let level = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (isInString) {
      if (code === BACKSLASH) at++
    } else if (code === COLON) members++
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth = Math.max(depth, ++level)
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) level--
  }
  return { members, depth }
}
