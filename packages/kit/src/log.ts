/**
 * The log: one JSON object a line, or a readable line on a terminal. Everything passes through
 * `redact.ts`, and a failure to log never fails the caller.
 */
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { isSecretName, redactedEntries, redactText } from './redact.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log that adds these fields to every line. */
  child(fields: LogFields): Log
}

/** Gets one line with its line end. Urgent lines are warnings and errors. */
export type LineSink = (line: string, isUrgent?: boolean) => void

export interface LogOptions {
  /** The lowest level that is written; `info` unless given. */
  level?: LogLevel
  clock?: Clock
  fields?: LogFields
  /** Readable lines instead of JSON; unless given, when standard output is a terminal. */
  pretty?: boolean
  /** Whether readable lines have colours; true unless given. */
  colours?: boolean
  /** Standard output unless given. */
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
 * Fields by name, each as its JSON in a line. Every request has its own log, so the fields of a log
 * are rendered once, when it is created.
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
      const text = pretty
        ? prettyLine(JSON.parse(line) as Line, colours)
        : `${escapeControls(line)}\n`
      sink(text, level === 'warn' || level === 'error')
    } catch {
      // A full disk or a closed pipe shows elsewhere; logging must never fail a request.
    }
  }

  /** The fields of the log that the line does not override, then those of the line. */
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
 * The same as `fragments` for a few texts and numbers, but faster; undefined for everything else.
 * The access log writes such a line for each request.
 */
function simpleFields(fields: LogFields, context: Fragments): string | undefined {
  let text = ''
  let count = 0
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    const isSimple = typeof value === 'string' || Number.isFinite(value)
    if (!isSimple || !SIMPLE_NAME.test(name) || ++count > MAX_SIMPLE_FIELDS) return undefined
    if (isSecretName(name) || OWN_NAMES.has(name) || context.has(name)) return undefined
    text += `,"${name}":${typeof value === 'string' ? JSON.stringify(redactText(value)) : String(value)}`
  }
  return text
}

const SIMPLE_NAME = /^[a-z]{1,11}$/i
const MAX_SIMPLE_FIELDS = 10

const OWN_NAMES = new Set(['time', 'level', 'message'])

/** Fields that would overwrite the line's own are left out. */
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
      return `${name}=${escapeControls(`${value.name}: ${value.message}`)}`
    }
    return `${name}=${escapeControls(typeof value === 'string' ? value : JSON.stringify(value))}`
  })
  const head = `${time.slice(11, 23)} ${coloured(COLOUR[level], level.padEnd(5))} ${escapeControls(message)}`
  const tail = shown.length === 0 ? '' : ` ${coloured('90', shown.join(' '))}`
  const traces = stacks.map(
    (stack) => `\n${stack.split('\n').slice(1).map(escapeControls).join('\n')}`,
  )
  return `${head}${tail}${traces.join('')}\n`
}

function isErrorCopy(value: unknown): value is { name: string; message: string; stack?: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value
}

// JSON.stringify escapes only the first range; terminals and line readers act on the others too.
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROLS = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g
const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes what could move the cursor, change colours or look like another line. */
function escapeControls(text: string): string {
  return text.replaceAll(CONTROLS, escape)
}

/** Drops everything; for tests and for libraries without a log. */
export const silentLog: Log = createLog({ level: 'silent', sink: () => {} })

const FLUSH_MS = 10

/** A batch of this length is written without waiting. */
const MAX_BATCH_LENGTH = 64 * 1024

/**
 * Writes lines in batches every few milliseconds, because a write costs more than creating a line. An
 * urgent line is written immediately, with all lines before it. The rest is written when the process
 * ends, also by an uncaught exception.
 */
export function batchLines(
  write: (text: string) => void,
  when: { later(run: () => void): void; exit(run: () => void): void } = system,
): LineSink {
  let batch = ''
  let isScheduled = false

  function flush() {
    isScheduled = false
    if (batch === '') return
    const text = batch
    batch = ''
    write(text)
  }

  when.exit(flush)
  return (line, isUrgent = false) => {
    batch += line
    if (isUrgent || batch.length >= MAX_BATCH_LENGTH) return flush()
    if (isScheduled) return
    isScheduled = true
    when.later(flush)
  }
}

const system = {
  later: (run: () => void) => void setTimeout(run, FLUSH_MS).unref(),
  exit: (run: () => void) => void process.on('exit', run),
}
