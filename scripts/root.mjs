import { fileURLToPath } from 'node:url'

/** The clone's own directory, wherever a command was started. */
export const root = fileURLToPath(new URL('..', import.meta.url))
