// `npm start`: sets up what is missing, then becomes `strongroom serve` in this same process,
// so that signals sent to `npm start` reach the server.
import { setup } from './setup.mjs'

await setup()
process.argv.splice(2, 0, 'serve')
await import(new URL('../dist/strongroom.js', import.meta.url).href)
