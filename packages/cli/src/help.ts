/** Help texts, derived from the declarations of the commands. */
import { version } from '@strongroom/server/version'
import { type Command, common, optionsOf } from './command.ts'

/** The first words of all commands, as help groups them. Each is a file in `commands/`. */
export const GROUPS = {
  Server: [
    'serve',
    'worker',
    'status',
    'config',
    'tables',
    'operator',
    'audit',
    'jobs',
    'secrets',
    'kms',
    'backup',
    'restore',
    'copy',
    'recover',
    'check',
    'dynamodb',
  ],
  Sealed: ['seal', 'open', 'request', 'fill', 'burn', 'receipt', 'sealed'],
  Ferryhook: [
    'user',
    'api-keys',
    'sources',
    'connections',
    'events',
    'replays',
    'alerts',
    'listen',
  ],
  'Form-Bridge': [
    'sites',
    'agencies',
    'registrations',
    'security-events',
    'abuse',
    'rate-limits',
    'plugin',
    'adoption',
  ],
  'Key store': ['keys'],
  'Two-key': ['slack', 'fake-slack'],
} as const

export function overview(commands: readonly Command[], width = Infinity): string {
  const groups = Object.entries(GROUPS).map(([title, words]) => {
    const members = commands.filter(({ name }) => words.some((word) => word === name.split(' ')[0]))
    const lines = members.map(({ name, args, summary }) => [
      `${name} ${args ?? ''}`.trim(),
      summary,
    ])
    return { title, lines }
  })
  const first = Math.max(...groups.flatMap(({ lines }) => lines.map(([name = '']) => name.length)))
  const listed = groups
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => `${title}\n${columns(lines, width, first)}`)
    .join('\n')
  const always = [
    ['--help', 'Show this help, or the help of a command'],
    ['--version', 'Show the version'],
    ['--json', common.json.summary],
  ]
  const text = `Strongroom ${version}: secrets, webhooks, WordPress sites and keys on your own server

Usage
  strongroom COMMAND [OPTIONS]

${listed}
Options
${columns(always, width)}
Settings come from the environment: "strongroom config" lists them.
Exit codes: 0 success, 1 failure, 2 invalid command line.
`
  return wrapText(text, width)
}

/** What a command works on, for its help. */
const KINDS: Readonly<Record<Command['kind'], string>> = {
  client: 'Calls a server.',
  either:
    'Calls the server in --server or STRONGROOM_SERVER. Without one, or with --local, works on the store.',
  store: 'Works on the store and ignores STRONGROOM_SERVER.',
  standalone: 'Uses neither a server nor the store.',
}

export function commandHelp(command: Command, width = Infinity): string {
  const { name, args, summary, kind, creates, about } = command
  const usage = ['strongroom', name, args, '[OPTIONS]'].filter((part) => part !== undefined)
  const lines = Object.entries(optionsOf(command)).map(([option, each]) => {
    const value = each.value === undefined ? '' : ` ${each.value}`
    return [`--${option}${value}`, each.summary]
  })
  const text = `${summary}

Usage
  ${usage.join(' ')}

Options
${columns(lines, width)}
${about === undefined ? '' : `${about}\n`}${KINDS[kind]}${creates ? ' Creates the store if there is none.' : ''}
`
  return wrapText(text, width)
}

/** With less room than this, a text is below its name instead of beside it. */
const MIN_TEXT_WIDTH = 30

function columns(
  lines: readonly (readonly string[])[],
  width: number,
  first = Math.max(...lines.map(([name = '']) => name.length)),
): string {
  const isBeside = width - first - 4 >= MIN_TEXT_WIDTH
  return lines
    .map(([name = '', text = '']) => {
      if (!isBeside) return `  ${name}\n${wrapText(`      ${text}`, width)}\n`
      const indent = ' '.repeat(first + 4)
      return `  ${name.padEnd(first)}  ${wrapText(indent + text, width).slice(first + 4)}\n`
    })
    .join('')
}

/** Wraps a text between words. Wrapped lines keep their indentation. */
function wrapText(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= width ? line : wrapLine(line, width)))
    .join('\n')
}

function wrapLine(line: string, width: number): string[] {
  const [indent = ''] = /^ */.exec(line) ?? []
  const lines: string[] = []
  for (const word of line.trimStart().split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`
    } else lines.push(indent + word)
  }
  return lines
}
