/** What a command of `strongroom` is. */
export interface Command {
  /** As it is typed, such as `tables create`. */
  name: string
  /** One line for the list of commands. */
  summary: string
  /** What follows the name, such as `NAME`, or `[NAME]` if it may; without it the command takes nothing. */
  args?: string
  /** What follows the name may be a secret: no message repeats it. */
  secretArgs?: true
  options?: Readonly<Record<string, CommandOption>>
  /** More for `--help`: what to know, examples. */
  about?: string
  /** Returns the exit code; none is success. */
  run(input: CommandInput): Promise<number | void>
}

export interface CommandOption {
  summary: string
  /** What the value stands for, such as `NAME`; without it the option is a switch. */
  value?: string
  /** May be given more than once: the values are in `lists`. */
  multiple?: true
}

/** Every command has these. */
export const common: Readonly<Record<'json', CommandOption>> = {
  json: { summary: 'Print one JSON document, for programs' },
}

export interface CommandInput {
  args: readonly string[]
  options: Readonly<Record<string, string | boolean | undefined>>
  /** The values of the options that may be given more than once. */
  lists: Readonly<Record<string, readonly string[]>>
  /** Whether a program is reading. */
  json: boolean
  env: NodeJS.ProcessEnv
  output: Output
}

export interface Output {
  /** The result, for people or, as one document, for programs. */
  result(forPeople: string, forPrograms: unknown): void
  /** One of many results, as they come: a line, or a document on a line of its own. */
  line(forPeople: string, forPrograms: unknown): void
  /** What is going on, while it is going on; for people only. */
  progress(line: string): void
}

/** The command line is wrong; the message says how it is right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
