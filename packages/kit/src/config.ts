/**
 * Configuration from the environment, declared once as a table of names, types, defaults and
 * descriptions. `strongroom config` and `docs/configuration.md` print the same table, so that no
 * setting is undocumented.
 */
import { readFileSync } from 'node:fs'
import { Failure } from './errors.ts'
import { nearest } from './nearest.ts'
import type { ConfigType } from './config-types.ts'

export interface Setting<T> {
  type: ConfigType<T>
  description: string
  /** Undefined if omitted. */
  default?: T
  required?: true
  /** Never shown; may also be read from the file in `NAME_FILE`. */
  secret?: true
}

/** A setting of any type; `never` because only its own type can format its values. */
export type AnySetting = Omit<Setting<unknown>, 'type'> & {
  type: Pick<ConfigType<unknown>, 'expects' | 'parse'> & { format(value: never): string }
}
export type ConfigTable = Readonly<Record<string, AnySetting>>

type Checked<T extends ConfigTable> = {
  [K in keyof T]: T[K] extends { type: { parse(text: string): (infer V) | undefined } }
    ? Setting<V>
    : never
}
type Value<S extends AnySetting> = Exclude<ReturnType<S['type']['parse']>, undefined>

/** The values of a table: undefined only for optional settings without a default. */
export type ConfigValues<T extends ConfigTable> = {
  readonly [K in keyof T]: T[K] extends { default: unknown } | { required: true }
    ? Value<T[K]>
    : Value<T[K]> | undefined
}

/** One line for each invalid setting, without the values of secret ones. */
export function invalidConfig(problems: readonly string[]): Failure {
  const lines = problems.map((problem) => `  ${problem}`).join('\n')
  return new Failure('failed', `The configuration is not valid\n${lines}`)
}

export interface ConfigRow {
  name: string
  type: string
  default: string | null
  required: boolean
  secret: boolean
  description: string
}

/** `default` if it was not set. */
export type SettingSource = 'default' | 'environment' | 'file'

/** A setting as it is. */
export interface CurrentSetting extends ConfigRow {
  /** Null if it is not set; a secret is never shown. */
  value: string | null
  isSet: boolean
  source: SettingSource
}

export interface Config<T extends ConfigTable> {
  readonly table: T
  parse(env: Readonly<Record<string, string | undefined>>): ConfigValues<T>
  /** The settings with values that `parse` returned, and where they came from. */
  current(values: ConfigValues<T>): CurrentSetting[]
  /** The table as data. */
  rows(): ConfigRow[]
  toText(): string
  toMarkdown(): string
}

/** Where the values of a parsed configuration came from. */
const sources = new WeakMap<object, ReadonlyMap<string, SettingSource>>()

/** Only our variables begin with this, so an unknown one is a mistake. */
const PREFIX = 'STRONGROOM_'

export function defineConfig<const T extends ConfigTable>(table: T & Checked<T>): Config<T> {
  const settings: [string, AnySetting][] = Object.entries(table)
  return {
    table,
    parse(env) {
      const problems: string[] = []
      const values: Record<string, unknown> = {}
      const found = new Map<string, SettingSource>()
      for (const [name, setting] of settings) {
        const outcome = read(env, name, setting)
        if ('problem' in outcome) {
          problems.push(outcome.problem)
          continue
        }
        values[name] = outcome.value
        found.set(name, outcome.source)
      }
      problems.push(...unknownNames(env, settings))
      if (problems.length > 0) throw invalidConfig(problems)
      const parsed = Object.freeze(values) as ConfigValues<T>
      sources.set(parsed, found)
      return parsed
    },
    current: (values) =>
      settings.map((entry) => {
        const [name, setting] = entry
        const row = rowOf(entry)
        const source = sources.get(values)?.get(name) ?? 'default'
        const value = (values as Record<string, unknown>)[name]
        const isShown = value !== undefined && !row.secret
        return {
          ...row,
          value: isShown ? setting.type.format(value as never) : null,
          isSet: source !== 'default',
          source,
        }
      }),
    rows: () => settings.map(rowOf),
    toText: () => textTable(settings.map(rowOf)),
    toMarkdown: () => markdownTable(settings.map(rowOf)),
  }
}

type Env = Readonly<Record<string, string | undefined>>

function read(
  env: Env,
  name: string,
  setting: AnySetting,
): { value: unknown; source: SettingSource } | { problem: string } {
  const source = readSource(env, name, setting)
  if ('problem' in source) return source
  if (source.text === undefined) {
    return setting.required
      ? { problem: `${name} is required: ${setting.type.expects}` }
      : { value: setting.default, source: 'default' }
  }
  const value = setting.type.parse(source.text)
  if (value !== undefined) return { value, source: source.from }
  const shown = setting.secret ? 'is not' : `is ${JSON.stringify(source.text.slice(0, 100))}`
  return { problem: `${name} must be ${setting.type.expects}, but ${shown}` }
}

/** The text of a setting. An empty variable counts as not set, as shells and Compose files unset one. */
function readSource(
  env: Env,
  name: string,
  setting: AnySetting,
): { text: string | undefined; from: SettingSource } | { problem: string } {
  const text = env[name]?.trim() || undefined
  const file = setting.secret ? env[`${name}_FILE`]?.trim() || undefined : undefined
  if (file === undefined) return { text, from: 'environment' }
  if (text !== undefined) return { problem: `${name} and ${name}_FILE are both set: remove one` }
  try {
    return { text: readFileSync(file, 'utf8').trim() || undefined, from: 'file' }
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return {
      problem: `${name}_FILE names a file that cannot be read (${reason}): ${JSON.stringify(file)}`,
    }
  }
}

function unknownNames(env: Env, settings: readonly [string, AnySetting][]): string[] {
  const known = settings.flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]))
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] !== undefined && !known.includes(name))
    .toSorted()
    .map((name) => {
      const meant = nearest(name, known)
      return `${name} is not a setting${meant === undefined ? ': remove it' : `: did you mean ${meant}?`}`
    })
}

function rowOf([name, setting]: [string, AnySetting]): ConfigRow {
  const { type, required = false, secret = false, description } = setting
  // `Checked` ensures that the default has the type of the setting.
  const value = 'default' in setting ? type.format(setting.default as never) : null
  return { name, type: type.expects, default: value, required, secret, description }
}

function defaultText({ default: value, required }: ConfigRow): string {
  if (required) return '(required)'
  return value === null || value === '' ? '(not set)' : value
}

function textTable(rows: readonly ConfigRow[]): string {
  const lines = rows.map((row) => [row.name, defaultText(row), row.description] as const)
  const first = Math.max(...lines.map(([name]) => name.length))
  const second = Math.max(...lines.map(([, value]) => value.length))
  return lines
    .map(([name, value, text]) => `${name.padEnd(first)}  ${value.padEnd(second)}  ${text}\n`)
    .join('')
}

const cell = (text: string) => text.replaceAll('|', '\\|')

function markdownTable(rows: readonly ConfigRow[]): string {
  const lines = rows.map((row) => {
    const note = row.secret ? ` Secret: may be read from the file in \`${row.name}_FILE\`.` : ''
    const value = defaultText(row)
    // A description of several sentences has its period already.
    const meaning = cell(row.description).replace(/\.?$/, '.')
    const shown = value.startsWith('(') ? value.slice(1, -1) : `\`${value}\``
    return `| \`${row.name}\` | ${cell(row.type)} | ${cell(shown)} | ${meaning}${note} |\n`
  })
  return `| Variable | Value | Default | Meaning |\n| --- | --- | --- | --- |\n${lines.join('')}`
}
