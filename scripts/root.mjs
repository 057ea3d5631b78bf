import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The clone's own directory, wherever a command was started. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** Whether a module is what node was started with, also by way of a link. @param {string} url */
export function isMain(url) {
  const [, started] = process.argv
  return started !== undefined && realpathSync(started) === fileURLToPath(url)
}
