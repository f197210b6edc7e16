declare module '*.css';
declare module 'redoc/bundles/redoc.standalone.js?url' {
  const address: string;
  export default address;
}
