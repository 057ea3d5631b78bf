// What makes the compiled program smaller: it is read as a whole at each start, and V8 creates an object
// for each function in it, also for those that never run.
import { readFile } from 'node:fs/promises'

/** The commands that packages/cli/src/compiled-program.ts runs. */
const COMMANDS = ['serve', 'worker']

/** @returns {import('esbuild').Plugin} */
export function withoutOtherCommands() {
  return {
    name: 'without-other-commands',
    setup(hooks) {
      hooks.onLoad({ filter: /[\\/]cli[\\/]src[\\/]commands[\\/][\w-]+\.ts$/ }, ({ path }) =>
        COMMANDS.some((name) => path.endsWith(`${name}.ts`))
          ? undefined
          : { contents: 'export const commands = []', loader: 'ts' },
      )
    },
  }
}

/** The guides, as texts for `textFiles`. @returns {import('esbuild').Plugin} */
export function longTexts() {
  return {
    name: 'long-texts',
    setup(hooks) {
      hooks.onLoad({ filter: /\.md$/ }, async ({ path }) => ({
        contents: await readFile(path, 'utf8'),
        loader: 'text',
      }))
    },
  }
}
