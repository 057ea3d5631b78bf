/**
 * What may stand in a log line. Two nets, because either alone has holes: fields are hidden by their
 * name at any depth, and text is searched for what looks like a credential wherever it stands.
 * Everything here accepts anything and never throws: a log line is no reason to fail a request.
 */

const HIDDEN = '[redacted]'

const MAX_DEPTH = 8
const MAX_ENTRIES = 100
const MAX_TEXT = 8_192

/** Words that make a field secret, wherever they stand in its name: `burnToken`, `x-api-key`, `CLIENT_SECRET`. */
const SECRET_WORDS = new Set(
  [
    'authorization auth bearer cookie cookies token tokens jwt secret secrets password passwords passwd pwd',
    'passphrase passphrases pin otp key keys link links claim claims proof proofs credential credentials',
    'session csrf nonce signature fragment ciphertext plaintext body apikey email ip',
  ].flatMap((line) => line.split(' ')),
)

/** Words after a secret word that make it a fact about the secret: `tokenCount`, `keyVersion`, `secretBytes`. */
const FACT_WORDS = new Set(
  'count counts left type types version versions length size bytes seconds ms at age arn limit'.split(
    ' ',
  ),
)

/** Names written without word boundaries. */
const SECRET_ENDINGS =
  /(?:token|secret|password|passphrase|apikey|privatekey|signingkey|masterkey|cookie|authorization|credentials?)$/

const secretNames = new Map<string, boolean>()

/** Whether the value of a field with this name is hidden. */
export function isSecretName(name: string): boolean {
  const known = secretNames.get(name)
  if (known !== undefined) return known
  const answer = nameIsSecret(name)
  // Names come from code, but a logged object may have any: the memory must not grow with requests.
  if (secretNames.size < 1_000) secretNames.set(name, answer)
  return answer
}

function nameIsSecret(name: string): boolean {
  const words = name
    .slice(0, 200)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const isFact = FACT_WORDS.has(words.at(-1) ?? '')
  if (isFact) return false
  // The id of a key is public and audits need it; the id of a secret or a link is part of the secret.
  if (words.at(-2) === 'key' && words.at(-1) === 'id') return false
  return words.some((word) => SECRET_WORDS.has(word) || SECRET_ENDINGS.test(word))
}

// Every repetition below is bounded or cannot overlap with what follows it: the text may be an attacker's.
const PLAIN = /^(?!xox|xapp|glpat)[a-z0-9.-]{0,39}$/
const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g
const SCHEME = /\b(bearer|basic|digest|token)([ :=]+)[A-Za-z0-9+/_.~=-]{8,}/gi
const ASSIGNED =
  /\b((?:[a-z0-9]{1,20}[_-]){0,4}(?:password|passwd|passphrase|secret|token|api[_-]?key|authorization|cookie))(["']?\s*[:=]\s*["']?)[^\s"',;&}]{3,}/gi
const JSON_WEB_TOKEN = /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*/g
const PREFIXED =
  /\b(?:fh_live_|fh_test_|whsec_|xox[a-z]-|xapp-|sk_(?:live|test)_|rk_live_|gh[pousr]_|github_pat_|glpat-|AIza|npm_)[A-Za-z0-9_+/=-]{6,}/g
const OPERATOR_TOKEN = /\bsro_[a-z0-9-]{1,32}\.[A-Za-z0-9_-]{6,}/g
const LONG_MIXED = /(?<![A-Za-z0-9+_=-])[A-Za-z0-9+_=-]{40,}/g
const ADDRESS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s"'<>`]+)/gi
const BARE_QUERY = /(^|[\s"'(])(\/[^\s"'<>`?#]*)(\?[^\s"'<>`#]+)?(#[^\s"'<>`]+)?/g

/** Short texts in which nothing was found: routes and codes come again with every request. */
const harmless = new Set<string>()
const MAX_HARMLESS = 1_000

/** Text without what looks like a credential: tokens, authorization values, the secret parts of addresses. */
export function redactText(text: string): string {
  if (harmless.has(text)) return text
  const short =
    text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… [${text.length} characters]` : text
  // Nothing shorter can hold a credential and its marker; names and ids of ours look like the second.
  if (short.length < 12 || PLAIN.test(short)) return short
  const clean = withoutCredentials(short)
  if (clean === text && text.length < 100 && harmless.size < MAX_HARMLESS) harmless.add(text)
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
    .replaceAll(OPERATOR_TOKEN, HIDDEN)
    .replaceAll(LONG_MIXED, (run) =>
      /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run) ? HIDDEN : run,
    )
}

/** The part of an address after its scheme, without user, secret-looking path and query values, and fragment. */
function redactRest(rest: string): string {
  const [, authority = '', path = '', query, fragment] =
    /^([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest) ?? []
  const host = authority.includes('@')
    ? `${HIDDEN}@${authority.slice(authority.lastIndexOf('@') + 1)}`
    : authority
  // A fragment never reaches a server by itself: where one is logged, it is a link with its key.
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

/** Long, of one piece, and not a word: at least 20 characters of an encoding's alphabet with digits among them. */
function looksRandom(text: string): boolean {
  if (text.length < 20) return false
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)) return false
  // No dots or colons: those are the file names and line numbers of stack traces.
  return /^[A-Za-z0-9+_=%~-]+$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text)
}

/** The fields of an object, each a copy that `JSON.stringify` can write, without secrets, cycles or surprises. */
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

/** Own fields, one at a time, so that a getter that throws costs its own field only. */
function ownEntries(record: Record<string, unknown>): [string, unknown][] {
  // One more than is shown, so that it shows that there are more.
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
  // fromEntries defines fields, so that a field named __proto__ stays a field.
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
    // Yes or no tells nothing: "passphrase: true" says that there is one.
    const hide = isSecretName(name) && typeof value !== 'boolean' && value != null
    result.push([redactText(name), hide ? HIDDEN : inner(value)])
  }
  return result
}

/**
 * Only the fields that every error has: libraries hang requests, headers and configuration with
 * credentials on their errors.
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
