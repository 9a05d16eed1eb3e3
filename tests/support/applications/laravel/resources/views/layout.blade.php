<!doctype html>
<html lang="en">
<title>@yield('title')</title>
@yield('content')
</html>
