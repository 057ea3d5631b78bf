/** Where `npm start` is reached on this machine, unless somebody says otherwise. */
export const DEFAULT_SERVER = 'http://127.0.0.1:4280'
