/**
 * The log: one JSON object a line, or a readable line on a terminal. Everything passes through
 * `redact.ts`, and nothing that is logged can make a call fail.
 */
import { systemClock, type Clock } from './clock.ts'
import { redact, redactText } from './redact.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Readonly<Record<string, unknown>>

type Write = (message: string, fields?: LogFields) => void

export interface Log {
  readonly debug: Write
  readonly info: Write
  readonly warn: Write
  readonly error: Write
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
  /** Gets one line at a time, with its line end; standard output unless told. */
  sink?: (line: string) => void
}

type Level = Exclude<LogLevel, 'silent'>

export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', clock = systemClock, fields = {} } = options
  const sink = options.sink ?? ((line) => void process.stdout.write(line))
  const pretty = options.pretty ?? (options.sink === undefined && process.stdout.isTTY)
  const format = pretty ? prettyLine : jsonLine
  const threshold = logLevels.indexOf(level)

  const write = (at: Level, message: string, context: LogFields, own: LogFields | undefined) => {
    try {
      const time = new Date(clock.now()).toISOString()
      const said = { time, level: at, message: redactText(message) }
      const rest = own === undefined ? {} : (redact(own) as LogFields)
      sink(format({ ...said, ...context, ...rest, ...said }))
    } catch {
      // A full disk or a closed pipe is seen elsewhere; logging must never decide a request.
    }
  }

  const at = (context: LogFields): Log => {
    const writer = (name: Level): Write =>
      logLevels.indexOf(name) < threshold
        ? ignore
        : (message, own) => write(name, message, context, own)
    return {
      debug: writer('debug'),
      info: writer('info'),
      warn: writer('warn'),
      error: writer('error'),
      child: (more) => at({ ...context, ...(redact(more) as LogFields) }),
    }
  }
  return at(redact(fields) as LogFields)
}

/** Drops everything; for tests and for libraries that got no log. */
export const silentLog: Log = createLog({ level: 'silent', sink: ignore })

function ignore(): void {}

interface Line extends LogFields {
  readonly time: string
  readonly level: Level
  readonly message: string
}

// JSON.stringify leaves these in place, and a terminal or a line reader acts on them.
const ACTIVE = /[\u007F-\u009F\u2028\u2029]/g
const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

function jsonLine(line: Line): string {
  return `${JSON.stringify(line).replaceAll(ACTIVE, escape)}\n`
}

const COLOUR: Record<Level, string> = { debug: '90', info: '36', warn: '33', error: '31' }

function prettyLine({ time, level, message, ...fields }: Line): string {
  const stacks: string[] = []
  const shown = Object.entries(fields).map(([name, value]) => {
    if (isErrorCopy(value)) {
      if (value.stack !== undefined) stacks.push(value.stack)
      return `${name}=${quiet(`${value.name}: ${value.message}`)}`
    }
    return `${name}=${quiet(typeof value === 'string' ? value : JSON.stringify(value))}`
  })
  const head = `${time.slice(11, 23)} \u001B[${COLOUR[level]}m${level.padEnd(5)}\u001B[0m ${quiet(message)}`
  const tail = shown.length === 0 ? '' : ` \u001B[90m${shown.join(' ')}\u001B[0m`
  const traces = stacks.map((stack) => `\n${stack.split('\n').slice(1).map(quiet).join('\n')}`)
  return `${head}${tail}${traces.join('')}\n`
}

function isErrorCopy(value: unknown): value is { name: string; message: string; stack?: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value
}

/** Text that cannot move the cursor, change colours or pretend to be another line. */
function quiet(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  return text.replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, escape)
}
