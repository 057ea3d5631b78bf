// `npm start`: sets up what is missing, then runs `strongroom serve` in the same process.
import { setup } from './setup.mjs'

// npm runs this through a shell and sends signals to the shell. Some shells exit without forwarding
// them; the server would continue without a parent and keep its port.
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
