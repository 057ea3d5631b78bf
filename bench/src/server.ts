// The engine's HTTP face in its own process. Usage: <directory> <port>.

import { openEngine } from '@strongroom/engine/engine'
import { serve } from '@strongroom/engine/wire/server'

const [directory, port] = process.argv.slice(2)
if (directory === undefined) throw new Error('Usage: server.js <directory> <port>')
const engine = await openEngine({ directory })
const server = await serve(engine, { port: Number(port) })
process.once('SIGTERM', () => {
  void server.close().then(() => engine.close())
})
