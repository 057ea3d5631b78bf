/**
 * Removes secrets from log lines in two ways, because either alone has gaps: fields are hidden by their
 * name at any depth, and all text is searched for what looks like a credential. Every function accepts
 * any value and never throws: logging must not fail a request.
 */

const HIDDEN = '[redacted]'

const MAX_DEPTH = 8
const MAX_ENTRIES = 100
const MAX_TEXT = 8_192

/** Words that make a field secret, anywhere in its name: `burnToken`, `x-api-key`, `CLIENT_SECRET`. */
const SECRET_WORDS = new Set(
  [
    'authorization auth bearer cookie cookies token tokens jwt secret secrets password passwords passwd pwd',
    'passphrase passphrases pin otp key keys link links claim claims proof proofs credential credentials',
    'session csrf nonce signature fragment ciphertext plaintext body apikey email ip',
  ].flatMap((line) => line.split(' ')),
)

/** Last words that make a field metadata of a secret: `tokenCount`, `keyVersion`, `secretBytes`. */
const METADATA_WORDS = new Set(
  'count counts left type types version versions length size bytes seconds ms at age arn limit'.split(
    ' ',
  ),
)

/** Names written without word boundaries. */
const SECRET_ENDINGS =
  /(?:token|secret|password|passphrase|apikey|privatekey|signingkey|masterkey|cookie|authorization|credentials?)$/

const knownNames = new Map<string, boolean>()
const MAX_KNOWN_NAMES = 1_000

/** Whether the value of a field with this name is hidden. */
export function isSecretName(name: string): boolean {
  const known = knownNames.get(name)
  if (known !== undefined) return known
  const isSecret = hasSecretWord(name)
  // Names come from code, but a logged object may have any name, so the cache is bounded.
  if (knownNames.size < MAX_KNOWN_NAMES) knownNames.set(name, isSecret)
  return isSecret
}

function hasSecretWord(name: string): boolean {
  const words = name
    .slice(0, 200)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  if (METADATA_WORDS.has(words.at(-1) ?? '')) return false
  // The id of a key is public and needed for audits; the id of a secret or a link is part of the secret.
  if (words.at(-2) === 'key' && words.at(-1) === 'id') return false
  return words.some((word) => SECRET_WORDS.has(word) || SECRET_ENDINGS.test(word))
}

// Each repetition is bounded or cannot overlap with what follows: an attacker may choose the text.
const PLAIN = /^(?!xox|xapp|glpat)[a-z0-9.-]{0,39}$/
const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g
const SCHEME = /\b(bearer|basic|digest|token)([ :=]+)[A-Za-z0-9+/_.~=-]{8,}/gi
const ASSIGNED =
  /\b((?:[a-z0-9]{1,20}[_-]){0,4}(?:password|passwd|passphrase|secret|token|api[_-]?key|authorization|cookie))(["']?\s*[:=]\s*["']?)[^\s"',;&}]{3,}/gi
const JSON_WEB_TOKEN = /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*/g
const PREFIXED =
  /\b(?:fh_live_|fh_test_|whsec_|xox[a-z]-|xapp-|sk_(?:live|test)_|rk_live_|gh[pousr]_|github_pat_|glpat-|AIza|npm_)[A-Za-z0-9_+/=-]{6,}/g
const NAMED_TOKEN = /\bsr[os]_[a-z0-9-]{1,32}\.[A-Za-z0-9_-]{6,}/g
const LONG_MIXED = /(?<![A-Za-z0-9+_=-])[A-Za-z0-9+_=-]{40,}/g
const ADDRESS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s"'<>`]+)/gi
const BARE_QUERY = /(^|[\s"'(])(\/[^\s"'<>`?#]*)(\?[^\s"'<>`#]+)?(#[^\s"'<>`]+)?/g

/** Short texts without credentials, because routes and codes repeat with every request. */
const harmlessTexts = new Set<string>()
const MAX_HARMLESS_TEXTS = 1_000

/** Removes what looks like a credential: tokens, authorization values, secret parts of URLs. */
export function redactText(text: string): string {
  if (harmlessTexts.has(text)) return text
  const short =
    text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… [${text.length} characters]` : text
  // A shorter text cannot contain a credential; our own names and ids match PLAIN.
  if (short.length < 12 || PLAIN.test(short)) return short
  const clean = withoutCredentials(short)
  if (clean === text && text.length < 100 && harmlessTexts.size < MAX_HARMLESS_TEXTS)
    harmlessTexts.add(text)
  return clean
}

function withoutCredentials(text: string): string {
  let clean = text
  if (clean.includes('://'))
    clean = clean.replaceAll(ADDRESS, (_, scheme, rest) => scheme + redactRest(rest))
  if (clean.includes('/')) {
    clean = clean.replaceAll(
      BARE_QUERY,
      (_, before: string, path: string, query?: string, fragment?: string) =>
        before + redactPath(path) + redactQuery(query) + (fragment ? `#${HIDDEN}` : ''),
    )
  }
  if (clean.includes('-----BEGIN')) clean = clean.replaceAll(PEM, HIDDEN)
  return clean
    .replaceAll(SCHEME, `$1$2${HIDDEN}`)
    .replaceAll(ASSIGNED, `$1$2${HIDDEN}`)
    .replaceAll(JSON_WEB_TOKEN, HIDDEN)
    .replaceAll(PREFIXED, HIDDEN)
    .replaceAll(NAMED_TOKEN, HIDDEN)
    .replaceAll(LONG_MIXED, (run) =>
      /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run) ? HIDDEN : run,
    )
}

/** The part of a URL after its scheme, without user, random path segments, secret query values and fragment. */
function redactRest(rest: string): string {
  const [, authority = '', path = '', query, fragment] =
    /^([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest) ?? []
  const host = authority.includes('@')
    ? `${HIDDEN}@${authority.slice(authority.lastIndexOf('@') + 1)}`
    : authority
  // Browsers do not send fragments: a logged one is a link with its key.
  return host + redactPath(path) + redactQuery(query) + (fragment ? `#${HIDDEN}` : '')
}

function redactPath(path: string): string {
  return path
    .split('/')
    .map((segment) => (looksRandom(segment) ? HIDDEN : segment))
    .join('/')
}

function redactQuery(query: string | undefined): string {
  if (!query) return ''
  const parts = query
    .slice(1)
    .split('&')
    .map((part) => {
      const [name = '', ...value] = part.split('=')
      if (value.length === 0) return looksRandom(name) ? HIDDEN : name
      return isSecretName(name) || looksRandom(value.join('=')) ? `${name}=${HIDDEN}` : part
    })
  return `?${parts.join('&')}`
}

/** At least 20 characters of an encoding's alphabet, with letters and digits; not a UUID. */
function looksRandom(text: string): boolean {
  if (text.length < 20) return false
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)) return false
  // No dots or colons, which are in file names and line numbers of stack traces.
  return /^[A-Za-z0-9+_=%~-]+$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text)
}

/** Copies of the fields of an object without secrets and cycles, safe for `JSON.stringify`. */
export function redactedEntries(fields: object): [name: string, value: unknown][] {
  return cleanEntries(ownEntries(fields as Record<string, unknown>), (value) =>
    copy(value, 1, [fields]),
  )
}

function copy(value: unknown, depth: number, above: readonly object[]): unknown {
  switch (typeof value) {
    case 'string':
      return redactText(value)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return String(value)
    case 'symbol':
      return redactText(String(value))
    case 'function':
      return '[function]'
    case 'object':
      break
    default:
      return value
  }
  if (value === null) return null
  try {
    if (above.includes(value)) return '[circular]'
    if (depth >= MAX_DEPTH) return '[too deep]'
    return copyObject(value, depth, [...above, value])
  } catch {
    return '[unreadable]'
  }
}

function copyObject(value: object, depth: number, above: readonly object[]): unknown {
  const inner = (entry: unknown) => copy(entry, depth + 1, above)
  if (value instanceof Error) return copyError(value, inner)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return `[${value.byteLength} bytes]`
  if (value instanceof Date)
    return Number.isFinite(value.getTime()) ? value.toISOString() : 'Invalid Date'
  if (value instanceof URL) return redactText(value.href)
  if (value instanceof URLSearchParams) return redactQuery(`?${value.toString()}`)
  if (value instanceof Headers) return copyEntries(value, inner)
  if (value instanceof Map) return copyEntries(value, inner)
  if (Array.isArray(value) || value instanceof Set) {
    const entries = [...value].slice(0, MAX_ENTRIES).map(inner)
    const size = Array.isArray(value) ? value.length : value.size
    return size > MAX_ENTRIES ? [...entries, `[${size - MAX_ENTRIES} more]`] : entries
  }
  const record = value as Record<string, unknown>
  return copyEntries(ownEntries(record), inner)
}

/** Own fields, one at a time, so that a getter that throws loses only its own field. */
function ownEntries(record: Record<string, unknown>): [string, unknown][] {
  // One more than the limit, to detect that there are more.
  const names = Object.keys(record).slice(0, MAX_ENTRIES + 1)
  return names.map((name) => {
    try {
      return [name, record[name]]
    } catch {
      return [name, '[unreadable]']
    }
  })
}

function copyEntries(
  entries: Iterable<[unknown, unknown]>,
  inner: (value: unknown) => unknown,
): object {
  // Object.fromEntries defines properties, so a field named __proto__ stays a field.
  return Object.fromEntries(cleanEntries(entries, inner))
}

function cleanEntries(
  entries: Iterable<[unknown, unknown]>,
  inner: (value: unknown) => unknown,
): [string, unknown][] {
  const result: [string, unknown][] = []
  for (const [key, value] of entries) {
    if (result.length === MAX_ENTRIES) {
      result.push(['…', '[more]'])
      break
    }
    const name = typeof key === 'string' ? key : String(key)
    // Booleans reveal nothing: `passphrase: true` only says that there is one.
    const hide = isSecretName(name) && typeof value !== 'boolean' && value != null
    result.push([redactText(name), hide ? HIDDEN : inner(value)])
  }
  return result
}

/**
 * Only the standard fields: libraries attach requests, headers and configuration with credentials to
 * their errors.
 */
function copyError(error: Error, inner: (value: unknown) => unknown): object {
  const { name, message, stack, cause } = error
  const code: unknown = 'code' in error ? error.code : undefined
  const errors: unknown = error instanceof AggregateError ? error.errors : undefined
  return {
    name: redactText(name),
    message: redactText(message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: inner(code) } : {}),
    ...(typeof stack === 'string' ? { stack: redactText(stack) } : {}),
    ...(cause === undefined ? {} : { cause: inner(cause) }),
    ...(errors === undefined ? {} : { errors: inner(errors) }),
  }
}
