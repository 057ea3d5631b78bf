/** Options of commands that create or change sources and connections. */
import { eventMethods, providers } from '@strongroom/ferryhook/sources/values'
import { nearest } from '@strongroom/kit/nearest'
import { parseUrl } from '@strongroom/kit/parse-url'
import { type CommandInput, type CommandOption, usageError } from '../command.ts'
import { readTextFile } from '../input.ts'
import { parseDuration } from '../output.ts'
import { secretOptions } from './signing-secret.ts'
import type { Limits, FieldRule } from './views.ts'

export const connectionOptions = {
  filter: { value: 'FILE', summary: 'JSON file with filter conditions; none removes it' },
  transform: {
    value: 'FILE',
    summary: 'Script (.js) with transform(event), or JSON file; none removes it',
  },
  headers: {
    value: 'FILE',
    summary: 'JSON file with additional headers, such as credentials; none removes them',
  },
  retry: {
    value: 'TIMES',
    summary: 'Delays before each attempt, such as 0s,30s,2m,1h; or standard',
  },
  concurrency: { value: 'N', summary: 'Maximum concurrent attempts; none removes the limit' },
  'per-second': {
    value: 'N',
    summary: 'Maximum attempts per second, such as 0.5; none removes the limit',
  },
} as const satisfies Record<string, CommandOption>

type OptionValue = string | boolean | undefined

/** In the form of the API: null resets a value, undefined leaves it unchanged. */
export async function parseConnectionSettings({ options }: Pick<CommandInput, 'options'>) {
  return {
    filters: await readUnlessNone(options['filter'], (file) => readJsonFile('filter', file)),
    transform: await readUnlessNone(options['transform'], readTransform),
    headers: await readUnlessNone(options['headers'], (file) => readJsonFile('headers', file)),
    retryConfig: parseDelays(options['retry']),
  }
}

async function readUnlessNone(
  given: OptionValue,
  read: (file: OptionValue) => Promise<unknown>,
): Promise<unknown> {
  return given === 'none' ? null : read(given)
}

function parseDelays(given: OptionValue): number[] | null | undefined {
  if (typeof given !== 'string') return undefined
  return given === 'standard' ? null : given.split(',').map((each) => parseDuration('retry', each))
}

/** The API replaces both limits together, so the one that was not passed keeps its value. */
export function parseLimits(
  { options }: Pick<CommandInput, 'options'>,
  before: Limits = {},
): Limits | undefined {
  const { concurrency, 'per-second': perSecond } = options
  if (concurrency === undefined && perSecond === undefined) return undefined
  const limits = {
    concurrency: parseLimit('concurrency', concurrency, before.concurrency),
    perSecond: parseLimit('per-second', perSecond, before.perSecond),
  }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined))
}

function parseLimit(
  option: string,
  given: OptionValue,
  before: number | undefined,
): number | undefined {
  if (typeof given !== 'string') return before
  if (given === 'none') return undefined
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(given)) return Number(given)
  throw usageError(`--${option} must be a number, or none`)
}

export const sourceOptions = {
  provider: { value: 'PROVIDER', summary: 'The provider that sends, such as github; see below' },
  ...secretOptions,
  unsigned: { summary: 'Accept all requests without verification' },
  algorithm: {
    value: 'NAME',
    summary: 'Signing algorithm of a custom provider, such as hmac-sha256',
  },
  'signing-options': {
    value: 'FILE',
    summary: 'JSON file with options of the algorithm, such as {"header": "x-signature"}',
  },
  dedup: {
    value: 'WHERE',
    summary: 'Where the event id is: a header, or a path such as $.id; or none, standard',
  },
  'event-type': {
    value: 'WHERE',
    summary: 'Where the event type is: a header, or a path such as $.type; or none, standard',
  },
  'credential-headers': {
    value: 'NAMES',
    summary: 'Further headers that are secrets, such as x-acme-auth,x-acme-pin; none removes them',
  },
  methods: {
    value: 'METHODS',
    summary: 'Methods to accept events by, such as POST,DELETE; standard is POST,PUT',
  },
} as const satisfies Record<string, CommandOption>

export const providersHelp = `Providers: ${providers.slice(0, 10).join(', ')},
${providers.slice(10).join(', ')}.`

/** In the form of the API: null resets a value, undefined leaves it unchanged. */
export async function parseSourceSettings({ options }: Pick<CommandInput, 'options'>) {
  const { provider, algorithm, unsigned, 'signing-options': file, dedup } = options
  const { 'credential-headers': names, 'event-type': eventType, methods } = options
  if (unsigned === true && algorithm !== undefined) {
    throw usageError('--unsigned excludes --algorithm: omit one of them')
  }
  return {
    provider:
      typeof provider === 'string' ? requireOneOf('provider', providers, provider) : undefined,
    signingAlgorithm: unsigned === true ? 'none' : algorithm,
    signingOptions: await readJsonFile('signing-options', file),
    dedup: typeof dedup === 'string' ? parseFieldRule(dedup) : undefined,
    eventType: typeof eventType === 'string' ? parseFieldRule(eventType) : undefined,
    credentialHeaders: typeof names === 'string' ? parseNames(names) : undefined,
    methods: typeof methods === 'string' ? parseMethods(methods) : undefined,
  }
}

function parseNames(given: string): string[] {
  return given === 'none' ? [] : given.split(',').map((name) => name.trim())
}

function parseMethods(given: string): string[] | null {
  if (given === 'standard') return null
  return given
    .split(',')
    .map((each) => requireOneOf('methods', eventMethods, each.trim().toUpperCase()))
}

function parseFieldRule(given: string): FieldRule | null {
  if (given === 'standard') return null
  if (given === 'none') return { by: 'none' }
  return given.startsWith('$') ? { by: 'path', path: given } : { by: 'header', name: given }
}

/** More than the server accepts. */
const MAX_FILE_BYTES = 1024 * 1024

/** Undefined without the option. */
async function readJsonFile(option: string, file: OptionValue): Promise<unknown> {
  const text = await readOptionFile(option, file)
  return text === undefined ? undefined : parseJson(option, text)
}

/** A file that ends in .js or .mjs is a script, any other is JSON. */
async function readTransform(file: OptionValue): Promise<unknown> {
  const code = await readOptionFile('transform', file)
  if (code === undefined) return undefined
  return /\.m?js$/.test(String(file)) ? { type: 'javascript', code } : parseJson('transform', code)
}

async function readOptionFile(option: string, file: OptionValue): Promise<string | undefined> {
  if (typeof file !== 'string') return undefined
  const text = await readTextFile(`--${option}`, file, MAX_FILE_BYTES)
  if (text !== undefined) return text
  throw usageError(`The file of --${option} is larger than 1 MB: use a smaller one`)
}

function parseJson(option: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usageError(`The file of --${option} is not JSON: correct it`)
  }
}

/** Checks a name before anything is sent. */
export function requireOneOf(option: string, names: readonly string[], given: string): string {
  if (names.includes(given)) return given
  const meant = nearest(given, names)
  const hint = meant === undefined ? `choose from ${names.join(', ')}` : `did you mean ${meant}?`
  throw usageError(`--${option} has no value "${given}": ${hint}`)
}

/** The host of a destination URL, or the test destination. */
export function destinationHost(url: string): string {
  if (/^test:/i.test(url)) return url
  const host = parseUrl(url)?.host
  // Without a scheme, `name:port` parses as a URL without a host.
  if (host) return host
  throw usageError('URL must be absolute, such as https://shop.example.com/hooks, or test:200')
}

/** A change without options is a mistake. */
export function requireChange(command: string, given: object): void {
  if (Object.values(given).some((value) => value !== undefined)) return
  throw usageError(`Nothing to change: run "strongroom ${command} --help"`)
}
