/** Whether this build has the page of all components: `node web/build-ui.mjs --components`. */
declare const WITH_COMPONENTS: boolean;
declare module '*.css';
declare module 'redoc/bundles/redoc.standalone.js?url' {
  const address: string;
  export default address;
}
declare module '*?raw' {
  const text: string;
  export default text;
}
