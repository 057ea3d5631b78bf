/**
 * The log: one JSON object a line, or a readable line on a terminal. Everything passes through
 * `redact.ts`, and nothing that is logged can make a call fail.
 */
import { systemClock, type Clock } from './clock.ts'
import type { LineSink } from './log-lines.ts'
import { isSecretName, redactedEntries, redactText } from './redact.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log whose every line has these fields too. */
  child(fields: LogFields): Log
}

export interface LogOptions {
  /** The lowest level that is written; `info` unless told. */
  level?: LogLevel
  clock?: Clock
  fields?: LogFields
  /** Readable lines in place of JSON; unless told, when the sink is a terminal. */
  pretty?: boolean
  /** Whether readable lines have colours; they do unless told. */
  colours?: boolean
  /** Gets one line at a time, with its line end; standard output unless told. */
  sink?: LineSink
}

type Level = Exclude<LogLevel, 'silent'>

interface Output {
  readonly threshold: number
  readonly clock: Clock
  readonly pretty: boolean
  readonly colours: boolean
  readonly sink: LineSink
}

export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', clock = systemClock, fields = {}, colours = true } = options
  const sink = options.sink ?? ((line) => void process.stdout.write(line))
  const pretty = options.pretty ?? (options.sink === undefined && process.stdout.isTTY)
  return new Writer(
    { threshold: logLevels.indexOf(level), clock, pretty, colours, sink },
    new Map(),
  ).child(fields)
}

/**
 * Fields by name, each as the JSON that stands in a line. Every request has a log of its own and
 * every line costs CPU, so fields are made ready once, when the log is made.
 */
type Fragments = ReadonlyMap<string, string>

class Writer implements Log {
  readonly #output: Output
  readonly #context: Fragments
  readonly #joined: string

  constructor(output: Output, context: Fragments) {
    this.#output = output
    this.#context = context
    this.#joined = [...context.values()].join('')
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields)
  }

  child(fields: LogFields): Log {
    return new Writer(this.#output, new Map([...this.#context, ...fragments(fields)]))
  }

  #write(level: Level, message: string, fields: LogFields | undefined): void {
    const { threshold, clock, pretty, colours, sink } = this.#output
    if (logLevels.indexOf(level) < threshold) return
    try {
      const own = fields === undefined ? this.#joined : this.#fields(fields)
      let line = `{"time":"${new Date(clock.now()).toISOString()}","level":"${level}"`
      line += `,"message":${JSON.stringify(redactText(message))}`
      line += `${own}}`
      const text = pretty ? prettyLine(JSON.parse(line) as Line, colours) : `${quiet(line)}\n`
      sink(text, level === 'warn' || level === 'error')
    } catch {
      // A full disk or a closed pipe is seen elsewhere; logging must never decide a request.
    }
  }

  /** The fields of a line, and before them those of the log that the line does not have itself. */
  #fields(fields: LogFields): string {
    const simple = simpleFields(fields, this.#context)
    if (simple !== undefined) return this.#joined + simple
    const own = fragments(fields)
    let text = ''
    for (const [name, fragment] of this.#context) if (!own.has(name)) text += fragment
    for (const fragment of own.values()) text += fragment
    return text
  }
}

/**
 * What `fragments` makes of a few texts and numbers, in one go; undefined for everything else. Each
 * request has a line of such fields.
 */
function simpleFields(fields: LogFields, context: Fragments): string | undefined {
  let text = ''
  let count = 0
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    const isSimple = typeof value === 'string' || Number.isFinite(value)
    if (!isSimple || !SIMPLE_NAME.test(name) || ++count > MOST_SIMPLE) return undefined
    if (isSecretName(name) || OWN_NAMES.has(name) || context.has(name)) return undefined
    text += `,"${name}":${typeof value === 'string' ? JSON.stringify(redactText(value)) : String(value)}`
  }
  return text
}

const SIMPLE_NAME = /^[a-z]{1,11}$/i
const MOST_SIMPLE = 10

const OWN_NAMES = new Set(['time', 'level', 'message'])

/** The fields, without those that could pass for the line's own. */
function fragments(fields: LogFields): Fragments {
  const all = new Map<string, string>()
  try {
    for (const [name, value] of redactedEntries(fields)) {
      const json = JSON.stringify(value) as string | undefined
      if (json !== undefined && !OWN_NAMES.has(name))
        all.set(name, `,${JSON.stringify(name)}:${json}`)
    }
  } catch {
    all.set('fields', ',"fields":"[unreadable]"')
  }
  return all
}

interface Line extends LogFields {
  readonly time: string
  readonly level: Level
  readonly message: string
}

const COLOUR: Record<Level, string> = { debug: '90', info: '36', warn: '33', error: '31' }

function prettyLine({ time, level, message, ...fields }: Line, colours: boolean): string {
  const coloured = (code: string, text: string) =>
    colours ? `\u001B[${code}m${text}\u001B[0m` : text
  const stacks: string[] = []
  const shown = Object.entries(fields).map(([name, value]) => {
    if (isErrorCopy(value)) {
      if (value.stack !== undefined) stacks.push(value.stack)
      return `${name}=${quiet(`${value.name}: ${value.message}`)}`
    }
    return `${name}=${quiet(typeof value === 'string' ? value : JSON.stringify(value))}`
  })
  const head = `${time.slice(11, 23)} ${coloured(COLOUR[level], level.padEnd(5))} ${quiet(message)}`
  const tail = shown.length === 0 ? '' : ` ${coloured('90', shown.join(' '))}`
  const traces = stacks.map((stack) => `\n${stack.split('\n').slice(1).map(quiet).join('\n')}`)
  return `${head}${tail}${traces.join('')}\n`
}

function isErrorCopy(value: unknown): value is { name: string; message: string; stack?: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value
}

// JSON.stringify escapes the first range, but leaves the others, on which terminals and line readers act.
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const ACTIVE = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g
const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text that cannot move the cursor, change colours or pretend to be another line. */
function quiet(text: string): string {
  return text.replaceAll(ACTIVE, escape)
}

/** Drops everything; for tests and for libraries that got no log. */
export const silentLog: Log = createLog({ level: 'silent', sink: () => {} })
