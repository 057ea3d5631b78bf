/** The help texts, all made from the declarations of the commands. */
import { version } from '@strongroom/server/version'
import { type Command, common } from './command.ts'
import { folded } from './folded.ts'

export function overview(commands: readonly Command[], width = Infinity): string {
  const lines = commands.map(({ name, args, summary }) => [[name, args].join(' ').trim(), summary])
  const always = [
    ['--help', 'Show this, or with a command what it does'],
    ['--version', 'Show the version'],
    ['--json', common.json.summary],
  ]
  const text = `Strongroom ${version}: the trust back end of a small team

Usage
  strongroom COMMAND [OPTIONS]

Commands
${columns(lines, width)}
Options
${columns(always, width)}
Settings come from the environment: "strongroom config" lists them.
Exit codes: 0 done, 1 failed, 2 wrong command line.
`
  return folded(text, width)
}

export function commandHelp(command: Command, width = Infinity): string {
  const { name, args, summary, options = {}, about } = command
  const usage = ['strongroom', name, args, '[OPTIONS]'].filter((part) => part !== undefined)
  const lines = Object.entries({ ...options, ...common }).map(([option, each]) => {
    const value = each.value === undefined ? '' : ` ${each.value}`
    return [`--${option}${value}`, each.summary]
  })
  const text = `${summary}

Usage
  ${usage.join(' ')}

Options
${columns(lines, width)}${about === undefined ? '' : `\n${about}\n`}`
  return folded(text, width)
}

/** The narrowest that a text is beside its name; with less room it is below. */
const NARROWEST = 30

function columns(lines: readonly (readonly string[])[], width: number): string {
  const first = Math.max(...lines.map(([name = '']) => name.length))
  const isBeside = width - first - 4 >= NARROWEST
  return lines
    .map(([name = '', text = '']) => {
      if (!isBeside) return `  ${name}\n${folded(`      ${text}`, width)}\n`
      const indent = ' '.repeat(first + 4)
      return `  ${name.padEnd(first)}  ${folded(indent + text, width).slice(first + 4)}\n`
    })
    .join('')
}
