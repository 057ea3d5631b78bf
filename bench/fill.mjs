// Fills the cache of `npm run bench` with stored events: `node bench/fill.mjs [--events <n>]`.
import { run } from './bundle.mjs'

await run('fill')
