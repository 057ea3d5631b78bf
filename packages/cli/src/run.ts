/** Finds the command for a command line and runs it. */
import { parseArgs } from 'node:util'
import { nearest } from '@strongroom/kit/nearest'
import { version } from '@strongroom/server/version'
import { type Command, type CommandInput, common, type Output, usageError } from './command.ts'
import { commandHelp, GROUPS, overview } from './help.ts'

export type Commands = Readonly<Record<string, () => Promise<readonly Command[]>>>

/** All commands by their first word. A word loads only its own file, so `seal` does not load the server. */
export const commands: Commands = Object.fromEntries(
  Object.values(GROUPS)
    .flat()
    .map((word) => [word, () => loadCommands(word)]),
)

async function loadCommands(word: string): Promise<readonly Command[]> {
  const module = (await import(`./commands/${word}.ts`)) as { commands: readonly Command[] }
  return module.commands
}

export interface Terminal {
  env: NodeJS.ProcessEnv
  /** Characters per line, if it is a terminal. */
  width?: number | undefined
  out(text: string): void
  error(text: string): void
}

/** Runs a command line and returns its exit code. */
export async function run(
  argv: readonly string[],
  registry: Commands,
  terminal: Terminal,
): Promise<number> {
  if (argv[0] === 'help') return run([...argv.slice(1), '--help'], registry, terminal)
  const words = argv.filter((word) => !word.startsWith('-'))
  const wantsHelp = argv.includes('--help') || argv.includes('-h')
  const [first] = words
  if (first === undefined) {
    if (argv.includes('--version')) terminal.out(`${version}\n`)
    else if (wantsHelp || argv.length === 0)
      terminal.out(overview(await every(registry), terminal.width))
    else if (argv[0] === '--json') throw usageError('No command given: run "strongroom --help"')
    else throw usageError(`Unknown option ${argv[0]}: run "strongroom --help"`)
    return 0
  }
  const known = Object.hasOwn(registry, first) ? registry[first] : undefined
  const command = known && findCommand(words, await known())
  if (command === undefined) return group(words, wantsHelp, await every(registry), terminal)
  if (wantsHelp) {
    terminal.out(commandHelp(command, terminal.width))
    return 0
  }
  return (await command.run(inputOf(command, argv, terminal))) ?? 0
}

async function every(registry: Commands): Promise<readonly Command[]> {
  return (await Promise.all(Object.values(registry).map((load) => load()))).flat()
}

function findCommand(
  words: readonly string[],
  candidates: readonly Command[],
): Command | undefined {
  const matches = candidates.filter(({ name }) =>
    name.split(' ').every((word, at) => words[at] === word),
  )
  // `fake-slack send` also matches `fake-slack`: the longest name wins.
  return matches.toSorted((a, b) => b.name.length - a.name.length)[0]
}

/** Shows the commands of a group, such as `strongroom tables`, or reports an unknown command. */
function group(
  words: readonly string[],
  wantsHelp: boolean,
  candidates: readonly Command[],
  terminal: Terminal,
): number {
  const [first = ''] = words
  const below = (start: string) => candidates.filter(({ name }) => name.startsWith(`${start} `))
  const ofAll = below(words.join(' '))
  const members = ofAll.length === 0 && wantsHelp ? below(first) : ofAll
  if (members.length > 0) {
    terminal.out(overview(members, terminal.width))
    return 0
  }
  // Does not repeat a link or secret in the wrong place.
  const typed = words
    .slice(0, 2)
    .map((word) => (/^[a-z][a-z-]*$/i.test(word) ? word : '…'))
    .join(' ')
  const names = candidates.map(({ name }) => name)
  const meant = nearest(typed, names) ?? nearest(first, names)
  const known = below(first).length > 0 ? `${first} ` : ''
  const hint =
    meant === undefined ? `run "strongroom ${known}--help"` : `did you mean "strongroom ${meant}"?`
  throw usageError(`Unknown command "${typed}": ${hint}`)
}

function inputOf(command: Command, argv: readonly string[], terminal: Terminal): CommandInput {
  const declarations = Object.entries({ ...command.options, ...common })
  const declared = Object.fromEntries(
    declarations.map(([name, { value, multiple = false }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple },
    ]),
  )
  const { values, positionals } = parsed(command, argv, declared)
  const [empty] = declarations.filter(([name]) => [values[name]].flat().includes(''))
  if (empty) {
    const [name, { value }] = empty
    throw usageError(`--${name} has no value: pass ${value}, or omit it`)
  }
  const { options, lists } = sorted(values)
  const args = positionals.slice(command.name.split(' ').length)
  const [extra] = args.slice(command.args?.split(' ').length ?? 0)
  if (extra !== undefined) {
    const what = command.secretArgs ? 'no further argument' : `no "${extra}"`
    throw usageError(`"strongroom ${command.name}" takes ${what}: ${seeHelp(command)}`)
  }
  if (args.includes('') || (args.length === 0 && command.args?.startsWith('[') === false)) {
    const needed = command.args?.replaceAll(/[[\]]/g, '')
    throw usageError(`"strongroom ${command.name}" needs ${needed}: ${seeHelp(command)}`)
  }
  const json = options['json'] === true
  return { args, options, lists, json, env: terminal.env, output: outputTo(terminal, json) }
}

function parsed(
  command: Command,
  argv: readonly string[],
  options: Record<string, { type: 'string' | 'boolean'; multiple: boolean }>,
) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // Only the first sentence of Node's message is relevant here.
    const [sentence = message] = message.split(/\.\s/)
    throw usageError(`${sentence.replace(/\.$/, '')}: ${seeHelp(command)}`)
  }
}

function sorted(values: Record<string, string | boolean | (string | boolean)[] | undefined>) {
  const options: Record<string, string | boolean | undefined> = {}
  const lists: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) lists[name] = value.map(String)
    else options[name] = value
  }
  return { options, lists }
}

function seeHelp({ name }: Command): string {
  return `run "strongroom ${name} --help"`
}

function outputTo(terminal: Terminal, json: boolean): Output {
  return {
    result: (forPeople, forPrograms) =>
      terminal.out(json ? `${JSON.stringify(forPrograms, null, 2)}\n` : forPeople),
    line: (forPeople, forPrograms) =>
      terminal.out(`${json ? JSON.stringify(forPrograms) : forPeople}\n`),
    progress: (line) => (json ? undefined : terminal.error(`${line}\n`)),
  }
}
