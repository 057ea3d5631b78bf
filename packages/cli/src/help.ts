/** The help texts, all made from the declarations of the commands. */
import { version } from '@strongroom/server/version'
import { type Command, common } from './command.ts'

export function overview(commands: readonly Command[]): string {
  const lines = commands.map(({ name, args, summary }) => [[name, args].join(' ').trim(), summary])
  return `Strongroom ${version}: the trust back end of a small team

Usage
  strongroom COMMAND [OPTIONS]

Commands
${columns(lines)}
Options
${columns([
  ['--help', 'Show this, or with a command what it does'],
  ['--version', 'Show the version'],
  ['--json', common.json.summary],
])}
Settings come from the environment: "strongroom config" lists them.
Exit codes: 0 done, 1 failed, 2 wrong command line.
`
}

export function commandHelp({ name, args, summary, options = {}, about }: Command): string {
  const usage = ['strongroom', name, args, '[OPTIONS]'].filter((part) => part !== undefined)
  const lines = Object.entries({ ...options, ...common }).map(([option, each]) => {
    const value = each.value === undefined ? '' : ` ${each.value}`
    return [`--${option}${value}`, each.summary]
  })
  return `${summary}

Usage
  ${usage.join(' ')}

Options
${columns(lines)}${about === undefined ? '' : `\n${about}\n`}`
}

function columns(lines: readonly (readonly string[])[]): string {
  const width = Math.max(...lines.map(([first = '']) => first.length))
  return lines.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}\n`).join('')
}
