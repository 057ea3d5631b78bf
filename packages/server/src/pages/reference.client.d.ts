// The script of the API reference is served, never run here: its module is its text.
declare const text: string
export default text
