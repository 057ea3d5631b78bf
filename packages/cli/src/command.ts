import { Failure } from '@strongroom/kit/errors'

/** A command of `strongroom`. */
export interface Command {
  /** As typed, such as `tables create`. */
  name: string
  /** One line for the list of commands. */
  summary: string
  kind: CommandKind
  /** Creates the store, its tables and its master key if they do not exist. */
  creates?: true
  /** Arguments after the name, such as `NAME`, or `[NAME]` if optional. */
  args?: string
  /** An argument may be a secret, so messages never repeat it. */
  secretArgs?: true
  options?: Readonly<Record<string, CommandOption>>
  /** Details and examples for `--help`. */
  about?: string
  /** Returns the exit code; undefined is success. */
  run(input: CommandInput): Promise<number | void>
}

/**
 * What a command works on. A client always calls a server. `either` calls a server if one is set, else
 * it works on the store. `store` never calls a server. `standalone` uses neither.
 */
export type CommandKind = 'client' | 'either' | 'store' | 'standalone'

export interface CommandOption {
  summary: string
  /** Placeholder of the value, such as `NAME`. Without it the option is a switch. */
  value?: string
  /** May be repeated; the values are in `lists`. */
  multiple?: true
}

/** Where `npm start` listens. Declared here, so that commands need not load all settings. */
export const DEFAULT_SERVER = 'http://127.0.0.1:4280'

/** Every command has these. */
export const common: Readonly<Record<'json', CommandOption>> = {
  json: { summary: 'Print one JSON document, for programs' },
}

const eitherOptions: Readonly<Record<'server' | 'local', CommandOption>> = {
  server: {
    value: 'URL',
    summary: 'Call this server, with the token in STRONGROOM_TOKEN (STRONGROOM_SERVER)',
  },
  local: { summary: 'Work on the store, even if STRONGROOM_SERVER is set' },
}

/** All options of a command: its own, those of its kind and the common ones. */
export function optionsOf({ kind, options }: Command): Readonly<Record<string, CommandOption>> {
  return { ...options, ...(kind === 'either' && eitherOptions), ...common }
}

export interface CommandInput {
  args: readonly string[]
  options: Readonly<Record<string, string | boolean | undefined>>
  /** Values of options that may be repeated. */
  lists: Readonly<Record<string, readonly string[]>>
  /** The output is for a program. */
  json: boolean
  /** Whether the command creates what does not exist. */
  mayCreate: boolean
  env: NodeJS.ProcessEnv
  output: Output
}

export interface Output {
  /** The result, for people or, as one document, for programs. */
  result(forPeople: string, forPrograms: unknown): void
  /** One of many results: a line of text, or a JSON document on one line. */
  line(forPeople: string, forPrograms: unknown): void
  /** Progress, for people only. */
  progress(line: string): void
  /** What must not be missed, on standard error also with --json. */
  notice(line: string): void
}

/** The command line is invalid; the message says how to correct it. */
export function usageError(message: string): Failure {
  return new Failure('usage', message)
}
