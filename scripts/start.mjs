// `npm start`: sets up what is missing, then becomes `strongroom serve` in this same process.
import { setup } from './setup.mjs'

// npm runs this through a shell and passes signals on to that. Some shells die of one and tell
// nobody: then the server would go on without a parent, and the next start find its port taken.
const parent = process.ppid
if (process.env.npm_lifecycle_event === 'start') {
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  watch.unref()
}

await setup()
process.argv.splice(2, 0, 'serve')
await import(new URL('../dist/strongroom.js', import.meta.url).href)
